//! The driver as one object: the device, its machine, and everything that handles stand for.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use warpwise_simt::device::Device;

use crate::abi::{DeviceOrdinal, Handle};
use crate::code::{Code, Done};
use crate::context::Context;
use crate::engine::Engine;
use crate::function::Function;
use crate::module::Module;
use crate::notice;
use crate::pool::Pool;
use crate::regions::{Kind, Regions};
use crate::registry::Registry;
use crate::settings::Settings;
use crate::stream::{Event, Stream};

/// The version of CUDA whose driver API this is, as `cuDriverGetVersion` gives it.
pub const CUDA_VERSION: i32 = 13_000;

pub struct Driver {
    pub settings: Settings,
    pub engine: Arc<Engine>,
    pub regions: Regions,
    pub contexts: Registry<Context>,
    pub modules: Registry<Module>,
    pub functions: Registry<Function>,
    pub streams: Registry<Stream>,
    pub events: Registry<Event>,
    pub pools: Registry<Pool>,
    /// The device's own pool, and the one that `cuMemAllocAsync` takes from.
    pub default_pool: Arc<Pool>,
    pub current_pool: Mutex<Arc<Pool>>,
    primary: Mutex<Primary>,
}

/// The primary context: made when it is first retained, destroyed with its last release.
#[derive(Debug, Default)]
pub struct Primary {
    pub context: Option<Arc<Context>>,
    pub retained: u32,
    pub flags: u32,
}

static DRIVER: OnceLock<Done<Driver>> = OnceLock::new();

impl Driver {
    /// Starts the driver at the first call.
    ///
    /// # Errors
    /// A variable of the environment makes no sense, or the system gives no thread; said on stderr.
    pub fn init() -> Done<&'static Self> {
        DRIVER.get_or_init(Self::start).as_ref().map_err(|code| *code)
    }

    /// # Errors
    /// `NOT_INITIALIZED` before `cuInit`; `NOT_PERMITTED` in a host function, which must not call the driver.
    pub fn get() -> Done<&'static Self> {
        if Engine::is_machine_thread() {
            return Err(Code::NOT_PERMITTED);
        }
        DRIVER.get().and_then(|driver| driver.as_ref().ok()).ok_or(Code::NOT_INITIALIZED)
    }

    fn start() -> Done<Self> {
        let settings = Settings::read(|name| std::env::var(name).ok()).map_err(|error| {
            notice::say(&error.to_string());
            error.code()
        })?;
        let engine = Engine::start(settings.device, settings.checks).map_err(|error| {
            notice::say(&format!("cannot start the machine's thread: {error}"));
            Code::OPERATING_SYSTEM
        })?;
        let pools = Registry::new(6);
        let default_pool = pools.insert_with(Pool::new);
        Ok(Self {
            settings,
            engine,
            regions: Regions::default(),
            contexts: Registry::new(1),
            modules: Registry::new(2),
            functions: Registry::new(3),
            streams: Registry::new(4),
            events: Registry::new(5),
            pools,
            current_pool: Mutex::new(Arc::clone(&default_pool)),
            default_pool,
            primary: Mutex::default(),
        })
    }

    /// The modelled GPU. There is one.
    ///
    /// # Errors
    /// `INVALID_DEVICE` for any other ordinal.
    pub fn device(&self, ordinal: DeviceOrdinal) -> Done<&'static Device> {
        if ordinal == 0 { Ok(self.settings.device) } else { Err(Code::INVALID_DEVICE) }
    }

    pub fn primary(&self) -> MutexGuard<'_, Primary> {
        self.primary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn pool_in_use(&self) -> MutexGuard<'_, Arc<Pool>> {
        self.current_pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new context. It finds the modelled L2 empty, so that its times depend on nothing that ran in another.
    pub fn new_context(&self, flags: u32, api_version: u32) -> Arc<Context> {
        let context = self.contexts.insert_with(|handle| Context::new(handle, flags, api_version));
        context.enqueue(&self.engine, |engine| {
            engine.machine().system_mut().flush_l2();
            Ok(())
        });
        context
    }

    /// A context that is alive, by its handle.
    ///
    /// # Errors
    /// `INVALID_CONTEXT`.
    pub fn context(&self, handle: Handle) -> Done<Arc<Context>> {
        self.contexts.get(handle).map_err(|_| Code::INVALID_CONTEXT)
    }

    /// Allocates memory that kernels reach, for a context.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`, with the reason on stderr.
    pub fn allocate(&self, context: &Context, bytes: u64, kind: Kind, flags: u32) -> Done<u64> {
        let mut machine = self.engine.machine();
        let address = machine.alloc(bytes).map_err(|error| {
            notice::say_once(&error.to_string());
            Code::OUT_OF_MEMORY
        })?;
        // The program writes such memory by itself, and nobody sees it.
        if matches!(kind, Kind::Managed | Kind::Pinned) {
            machine.assume_written(address);
        }
        drop(machine);
        self.regions.insert(address, bytes, kind, context.handle, flags);
        Ok(address)
    }

    /// Waits for the context's work and frees everything that lives in it.
    pub fn clean(&self, context: &Context) {
        let handle = context.handle;
        self.engine.wait(context.last());
        self.functions.remove_all(|function| function.context == handle);
        self.streams.remove_all(|stream| stream.context.handle == handle);
        self.events.remove_all(|event| event.context.handle == handle);
        let modules = self.modules.remove_all(|module| module.context == handle);
        let regions = self.regions.remove_all(|region| region.context == handle);
        let mut machine = self.engine.machine();
        for module in modules {
            machine.unload(module.id);
        }
        for region in regions.iter().filter(|region| region.kind != Kind::Variable) {
            // What the machine does not know any more is free already.
            let _ = match region.kind {
                Kind::Registered => machine.disown(region.start),
                _ => machine.free(region.start),
            };
        }
    }
}
