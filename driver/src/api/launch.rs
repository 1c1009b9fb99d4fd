//! Launches, in all their forms. Arguments come as an array of pointers (`each`) or as a list that names a packed buffer.

use std::ffi::c_uint;

use crate::abi::{Handle, In, LaunchConfig};
use crate::code::Done;
use crate::driver::Driver;
use crate::function::Function;
use crate::guard::api;
use crate::launch::{Arguments, Request};
use crate::stream::Target;

fn submit(request: Request, function: Handle, stream: Handle, arguments: Arguments) -> Done {
    let driver = Driver::get()?;
    let target = Target::of(driver, stream)?;
    let function = Function::get(driver, function)?;
    request.submit(driver, &function, &target, arguments)
}

api! {
    fn cuLaunchKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: Handle,
        each: In<u64>,
        packed: In<u64>,
    ) {
        let request = Request {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_shared_bytes: shared_bytes,
            cooperative: false,
        };
        submit(request, function, stream, Arguments { each, packed })
    }

    fn cuLaunchKernelEx(config: In<LaunchConfig>, function: Handle, each: In<u64>, packed: In<u64>) {
        let config = config.get()?;
        let mut request = Request {
            grid: config.grid,
            block: config.block,
            dynamic_shared_bytes: config.shared_bytes,
            cooperative: false,
        };
        for attribute in config.attributes.array(config.attribute_count as usize)? {
            request.take(&attribute)?;
        }
        submit(request, function, config.stream, Arguments { each, packed })
    }

    fn cuLaunchCooperativeKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: Handle,
        each: In<u64>,
    ) {
        let request = Request {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_shared_bytes: shared_bytes,
            cooperative: true,
        };
        submit(request, function, stream, Arguments { each, packed: In::at(0) })
    }
}
