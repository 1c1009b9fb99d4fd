//! Modules: loading, their functions and variables.

use std::ffi::{c_char, c_uint};
use std::path::Path;

use crate::abi::{DevicePtr, Handle, In, Out, Text};
use crate::code::{Code, Done};
use crate::context;
use crate::driver::Driver;
use crate::function::Function;
use crate::guard::api;
use crate::image::{self, NoPtx};
use crate::jit::JitOptions;
use crate::module::Module;
use crate::notice;
use crate::regions::Kind;

/// Loads what an image holds into the current context.
fn load(module: Out<Handle>, ptx: impl FnOnce() -> Result<Vec<u8>, NoPtx>, options: &JitOptions) -> Done {
    let driver = Driver::get()?;
    let context = context::current()?;
    module.required()?;
    let text = ptx().map_err(|error| {
        let message = format!("the module cannot be loaded: {error}");
        options.finish("", &message, 0.0);
        notice::say_once(&message);
        error.code()
    })?;
    module.put(Module::load(driver, &context, &text, options)?)
}

fn read(path: &str) -> Done<Vec<u8>> {
    std::fs::read(Path::new(path)).map_err(|error| {
        notice::say_once(&format!("{path}: {error}"));
        Code::FILE_NOT_FOUND
    })
}

api! {
    fn cuModuleLoad(module: Out<Handle>, path: Text) {
        Driver::get()?;
        context::current()?;
        let image = read(&path.get()?)?;
        load(module, || image::ptx_of(&image), &JitOptions::default())
    }

    fn cuModuleLoadData(module: Out<Handle>, image: In<u8>) {
        image.get()?;
        load(module, || image::ptx_at(image), &JitOptions::default())
    }

    fn cuModuleLoadDataEx(module: Out<Handle>, image: In<u8>, count: c_uint, names: In<c_uint>, values: Out<u64>) {
        image.get()?;
        load(module, || image::ptx_at(image), &JitOptions::read(count, names, values)?)
    }

    fn cuModuleLoadFatBinary(module: Out<Handle>, image: In<u8>) {
        image.get()?;
        load(module, || image::ptx_at(image), &JitOptions::default())
    }

    fn cuModuleUnload(module: Handle) {
        let driver = Driver::get()?;
        let context = context::current()?;
        let module = driver.modules.remove(module)?;
        driver.engine.wait(context.last());
        driver.functions.remove_all(|function| function.module == module.handle);
        for address in &module.variables {
            driver.regions.remove(*address, |kind| kind == Kind::Variable)?;
        }
        driver.engine.machine().unload(module.id);
        Ok(())
    }

    fn cuModuleGetFunction(function: Out<Handle>, module: Handle, name: Text) {
        let driver = Driver::get()?;
        context::current()?;
        function.required()?;
        let module = driver.modules.get(module)?;
        let entry = module.entry(&name.get()?)?;
        function.put(Function::of(driver, &module, entry)?)
    }

    fn cuModuleGetFunctionCount(count: Out<c_uint>, module: Handle) {
        let module = Driver::get()?.modules.get(module)?;
        count.put(module.entry_count() as c_uint)
    }

    fn cuModuleEnumerateFunctions(functions: Out<Handle>, count: c_uint, module: Handle) {
        let driver = Driver::get()?;
        let module = driver.modules.get(module)?;
        functions.required()?;
        for entry in 0..module.entry_count().min(count as usize) {
            functions.element(entry).put(Function::of(driver, &module, entry)?)?;
        }
        Ok(())
    }

    fn cuModuleGetGlobal_v2(address: Out<DevicePtr>, bytes: Out<usize>, module: Handle, name: Text) {
        let driver = Driver::get()?;
        context::current()?;
        let module = driver.modules.get(module)?;
        let symbol = driver.engine.machine().symbol(module.id, &name.get()?).ok_or(Code::NOT_FOUND)?;
        address.put_if_wanted(symbol.address);
        bytes.put_if_wanted(symbol.bytes as usize);
        Ok(())
    }

    /// Modules are whole once they are loaded: `CU_MODULE_EAGER_LOADING`.
    fn cuModuleGetLoadingMode(mode: Out<c_uint>) {
        Driver::get()?;
        mode.put(1)
    }

    fn cuFuncGetModule(module: Out<Handle>, function: Handle) {
        module.put(Function::get(Driver::get()?, function)?.module)
    }

    fn cuFuncGetName(name: Out<*const c_char>, function: Handle) {
        name.put(Function::get(Driver::get()?, function)?.name.as_ptr())
    }
}
