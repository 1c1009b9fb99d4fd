//! Functions: attributes and parameters.

use std::ffi::{c_int, c_uint};

use crate::abi::{Handle, Out};
use crate::code::Code;
use crate::context;
use crate::driver::Driver;
use crate::function::Function;
use crate::guard::api;

api! {
    fn cuFuncGetAttribute(value: Out<c_int>, attribute: c_uint, function: Handle) {
        let driver = Driver::get()?;
        value.required()?;
        let function = Function::get(driver, function)?;
        context::current()?;
        value.put(function.attribute(attribute, driver.settings.device)?)
    }

    fn cuFuncSetAttribute(function: Handle, attribute: c_uint, value: c_int) {
        let driver = Driver::get()?;
        let function = Function::get(driver, function)?;
        context::current()?;
        function.set_attribute(attribute, value, driver.settings.device)
    }

    /// A preference that the machine does not have.
    fn cuFuncSetCacheConfig(function: Handle, config: c_uint) {
        Function::get(Driver::get()?, function)?;
        context::current()?;
        if config > 3 { Err(Code::INVALID_VALUE) } else { Ok(()) }
    }

    /// As for contexts: banks are four bytes wide.
    fn cuFuncSetSharedMemConfig(function: Handle, config: c_uint) {
        Function::get(Driver::get()?, function)?;
        context::current()?;
        if config > 2 { Err(Code::INVALID_VALUE) } else { Ok(()) }
    }

    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: Out<usize>, bytes: Out<usize>) {
        let function = Function::get(Driver::get()?, function)?;
        let param = function.kernel.program().params.get(index).ok_or(Code::INVALID_VALUE)?;
        offset.put(param.offset as usize)?;
        bytes.put_if_wanted(param.bytes as usize);
        Ok(())
    }

    fn cuFuncGetParamCount(function: Handle, count: Out<usize>) {
        let function = Function::get(Driver::get()?, function)?;
        count.put(function.kernel.program().params.len())
    }

    /// `CU_FUNCTION_LOADING_STATE_LOADED`.
    fn cuFuncIsLoaded(state: Out<c_uint>, function: Handle) {
        Function::get(Driver::get()?, function)?;
        state.put(1)
    }

    fn cuFuncLoad(function: Handle) {
        Function::get(Driver::get()?, function).map(|_| ())
    }
}
