//! Streams: nothing waits that need not, and everything happens in order.

use std::ffi::c_void;
use std::sync::mpsc::{self, Receiver, Sender};

use crate::kernels;
use crate::library::{Scope, at, code, of};

/// A host function that waits until the test opens it.
struct Gate {
    entered: Sender<()>,
    open: Receiver<()>,
}

unsafe extern "C" fn wait_at_gate(data: *mut c_void) {
    // SAFETY: the test gives a boxed gate to one host function.
    let gate = unsafe { Box::from_raw(data.cast::<Gate>()) };
    let _ = gate.entered.send(());
    let _ = gate.open.recv();
}

/// Puts a gate into a stream: what opens it, and what tells that the stream is there.
pub fn gate(scope: &Scope, stream: u64) -> (Sender<()>, Receiver<()>) {
    let ((entered, arrived), (opener, open)) = (mpsc::channel(), mpsc::channel());
    let data = Box::into_raw(Box::new(Gate { entered, open })).expose_provenance() as u64;
    let function = (wait_at_gate as unsafe extern "C" fn(*mut c_void)) as usize as u64;
    scope.cuda.ok("cuLaunchHostFunc", &[stream, function, data]);
    (opener, arrived)
}

#[test]
fn a_launch_returns_while_work_before_it_waits() {
    let scope = Scope::new();
    let stream = scope.cuda.make("cuStreamCreate", &[0]);
    let count = scope.kernel(&kernels::small(), "count");
    let memory = scope.upload(&[0u32]);
    let (opener, arrived) = gate(&scope, stream);
    arrived.recv().unwrap();
    for _ in 0..100 {
        assert_eq!(scope.launch(count, 1, 32, stream, &mut [memory]), code::OK);
    }
    assert_eq!(scope.cuda.call("cuStreamQuery", &[stream]), code::NOT_READY);
    opener.send(()).unwrap();
    scope.cuda.ok("cuStreamSynchronize", &[stream]);
    scope.cuda.ok("cuStreamQuery", &[stream]);
    assert_eq!(scope.download::<u32>(memory, 1), [3200]);
}

#[test]
fn an_event_is_ready_when_its_stream_gets_there_and_another_stream_can_wait_for_it() {
    let scope = Scope::new();
    let cuda = scope.cuda;
    let (first, second) = (cuda.make("cuStreamCreate", &[1]), cuda.make("cuStreamCreateWithPriority", &[1, 0]));
    let event = cuda.make("cuEventCreate", &[2]);
    cuda.ok("cuEventQuery", &[event]);
    let store = scope.kernel(&kernels::small(), "store");
    let memory = scope.upload(&[0u32]);
    let (opener, arrived) = gate(&scope, first);
    arrived.recv().unwrap();
    assert_eq!(scope.launch(store, 1, 1, first, &mut [memory, 1]), code::OK);
    cuda.ok("cuEventRecord", &[event, first]);
    cuda.ok("cuStreamWaitEvent", &[second, event, 0]);
    assert_eq!(scope.launch(store, 1, 1, second, &mut [memory, 2]), code::OK);
    assert_eq!(cuda.call("cuEventQuery", &[event]), code::NOT_READY);
    assert_eq!(cuda.call("cuStreamQuery", &[second]), code::NOT_READY);
    opener.send(()).unwrap();
    cuda.ok("cuEventSynchronize", &[event]);
    cuda.ok("cuStreamSynchronize", &[second]);
    assert_eq!(scope.download::<u32>(memory, 1), [2]);
    cuda.ok("cuEventDestroy_v2", &[event]);
    cuda.ok("cuStreamDestroy_v2", &[first]);
}

#[test]
fn streams_tell_their_flags_priority_and_context() {
    let scope = Scope::new();
    let cuda = scope.cuda;
    let stream = cuda.make("cuStreamCreateWithPriority", &[1, -1i64 as u64]);
    let (mut flags, mut priority, mut context) = (9u32, 9i32, 0u64);
    cuda.ok("cuStreamGetFlags", &[stream, at(&mut flags)]);
    cuda.ok("cuStreamGetPriority", &[stream, at(&mut priority)]);
    cuda.ok("cuStreamGetCtx", &[stream, at(&mut context)]);
    assert_eq!((flags, priority, context), (1, -1, scope.context));
    let mut refused = 0u64;
    assert_eq!(cuda.call("cuStreamCreate", &[at(&mut refused), 0x80]), code::INVALID_VALUE);
    for default in [0, 1, 2] {
        cuda.ok("cuStreamSynchronize", &[default]);
    }
}

#[test]
fn host_functions_run_in_order_with_their_data() {
    unsafe extern "C" fn push(data: *mut c_void) {
        // SAFETY: the test gives boxed senders.
        let (sender, value) = *unsafe { Box::from_raw(data.cast::<(Sender<u32>, u32)>()) };
        let _ = sender.send(value);
    }
    let scope = Scope::new();
    let (sender, values) = mpsc::channel::<u32>();
    let function = (push as unsafe extern "C" fn(*mut c_void)) as usize as u64;
    for value in 0..50u32 {
        let data = Box::into_raw(Box::new((sender.clone(), value))).expose_provenance() as u64;
        scope.cuda.ok("cuLaunchHostFunc", &[0, function, data]);
    }
    drop(sender);
    scope.synchronize();
    assert!(values.iter().eq(0..50));
    assert_eq!(scope.cuda.call("cuLaunchHostFunc", &[0, 0, of(&0u8)]), code::INVALID_VALUE);
}
