//! Memory in huge pages, where the system has them.

/// Memory smaller than this gains nothing from huge pages.
pub const HUGE: usize = 16 << 20;

/// Asks for huge pages under memory that nobody has touched yet: 128 MB in pages of 4 KiB take 32,768 faults. Without them it is only
/// slower.
pub fn ask_for_huge<T>(memory: &mut [T]) {
    #[cfg(target_os = "linux")]
    if size_of_val(memory) >= HUGE {
        let page = rustix::param::page_size();
        let range = memory.as_mut_ptr_range();
        let start = range.start.cast::<u8>();
        let first = start.wrapping_add(start.align_offset(page));
        let length = (range.end as usize).saturating_sub(first as usize) / page * page;
        // SAFETY: whole pages within a slice that is exclusively borrowed; this advice changes no content.
        let _ = unsafe { rustix::mm::madvise(first.cast(), length, rustix::mm::Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}
