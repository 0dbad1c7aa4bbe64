//! Streams and events.

use std::os::raw::{c_int, c_uint, c_void};

use cust::sys::{CUevent, CUhostFn, CUstream};

forward! {
    fn cuStreamCreate(ph_stream: *mut CUstream, flags: c_uint);
    fn cuStreamCreateWithPriority(ph_stream: *mut CUstream, flags: c_uint, priority: c_int);
    fn cuStreamGetPriority(h_stream: CUstream, priority: *mut c_int);
    fn cuStreamGetFlags(h_stream: CUstream, flags: *mut c_uint);
    fn cuStreamWaitEvent(h_stream: CUstream, h_event: CUevent, flags: c_uint);
    fn cuStreamQuery(h_stream: CUstream);
    fn cuStreamSynchronize(h_stream: CUstream);
    fn cuStreamDestroy_v2(h_stream: CUstream);
    fn cuEventCreate(ph_event: *mut CUevent, flags: c_uint);
    fn cuEventRecord(h_event: CUevent, h_stream: CUstream);
    fn cuEventQuery(h_event: CUevent);
    fn cuEventSynchronize(h_event: CUevent);
    fn cuEventDestroy_v2(h_event: CUevent);
    fn cuEventElapsedTime(p_milliseconds: *mut f32, h_start: CUevent, h_end: CUevent);
    fn cuLaunchHostFunc(h_stream: CUstream, callback: CUhostFn, user_data: *mut c_void);
}
