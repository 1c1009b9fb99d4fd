//! Forms of context calls that came before or after the plain ones, and peers, of which there are none.

use std::ffi::{c_int, c_uint, c_void};

use super::context::create;
use crate::abi::{DeviceOrdinal, Handle, In, Out};
use crate::code::Code;
use crate::context;
use crate::driver::Driver;
use crate::guard::api;
use crate::notice;

api! {
    fn cuCtxCreate_v3(context: Out<Handle>, _affinities: In<c_void>, count: c_int, flags: c_uint, device: DeviceOrdinal) {
        if count != 0 {
            notice::say_once("cuCtxCreate_v3: execution affinity is not supported");
            return Err(Code::UNSUPPORTED_EXEC_AFFINITY);
        }
        create(context, flags, device)
    }

    /// The parameters choose execution affinity or graphics; all null where they are not wanted.
    fn cuCtxCreate_v4(context: Out<Handle>, parameters: In<[usize; 3]>, flags: c_uint, device: DeviceOrdinal) {
        if parameters.if_given().is_some_and(|given| given[0] != 0 || given[2] != 0) {
            notice::say_once("cuCtxCreate_v4: execution affinity and graphics contexts are not supported");
            return Err(Code::NOT_SUPPORTED);
        }
        create(context, flags, device)
    }

    fn cuCtxAttach(context: Out<Handle>, flags: c_uint) {
        Driver::get()?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        context.put(context::current()?.handle)
    }

    fn cuCtxDetach(context: Handle) {
        Driver::get()?.context(context).map(|_| ())
    }

    fn cuCtxEnablePeerAccess(peer: Handle, _flags: c_uint) {
        Driver::get()?.context(peer)?;
        Err(Code::PEER_ACCESS_UNSUPPORTED)
    }

    fn cuCtxDisablePeerAccess(peer: Handle) {
        Driver::get()?.context(peer)?;
        Err(Code::PEER_ACCESS_NOT_ENABLED)
    }
}
