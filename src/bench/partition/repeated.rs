//! A run of memory in which the same pages follow themselves.

use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Deref;
use std::ptr::null_mut;

use rustix::fs::{fcntl_add_seals, memfd_create, MemfdFlags, SealFlags};
use rustix::mm::{mmap, mmap_anonymous, munmap, MapFlags, ProtFlags};
use rustix::param::page_size;

/// Bytes of which each whole repetition is the same memory: shared pages of a file that has no name, and none of the process's own.
#[derive(Debug)]
pub struct Repeated {
    start: *const u8,
    length: usize,
}

// SAFETY: nothing writes to the memory, and whoever owns this owns the mapping.
unsafe impl Send for Repeated {}
// SAFETY: as above.
unsafe impl Sync for Repeated {}

impl Repeated {
    /// `content` again and again, `length` bytes of it.
    ///
    /// # Errors
    /// `InvalidInput` for content that is no whole number of pages, or nothing at all; the system's refusal: of memory, of address space,
    /// of so many mappings.
    pub fn new(content: &[u8], length: usize) -> io::Result<Self> {
        let page = page_size();
        if content.is_empty() || length == 0 || !content.len().is_multiple_of(page) {
            let message = format!("{length} bytes of repetitions of {}: expected whole pages of {page}", content.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let file = sealed(content)?;
        // SAFETY: a new mapping, which nothing else refers to.
        let start =
            unsafe { mmap_anonymous(null_mut(), length, ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::NORESERVE)? };
        let repeated = Self { start: start.cast(), length };
        for offset in (0..length).step_by(content.len()) {
            let here = content.len().min(length - offset);
            // SAFETY: within the mapping that was made above and that nobody has read yet, as offset + here <= length; the offset is a
            // multiple of the content's length, and so of a page's.
            unsafe {
                let place = start.cast::<u8>().add(offset).cast::<c_void>();
                mmap(place, here, ProtFlags::READ, MapFlags::PRIVATE | MapFlags::FIXED, &file, 0)?;
            }
        }
        Ok(repeated)
    }
}

/// A file without a name that holds `content`, and which nobody can write or cut short any more.
fn sealed(content: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("cuzk-bases", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    file.write_all(content)?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

impl Deref for Repeated {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `new` has mapped all of it, readable, from a file that keeps its length and content; it is unmapped when this is dropped.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

impl Drop for Repeated {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's own, and no borrow of it outlives it. Where the system refuses, it stays.
        let _ = unsafe { munmap(self.start.cast_mut().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_once_is_there_again_and_again() {
        let page = page_size();
        let content: Vec<u8> = (0..3 * page).map(|i| (i % 251) as u8).collect();
        for length in [1, page, 3 * page - 1, 3 * page, 3 * page + 1, 20 * page + 77] {
            let repeated = Repeated::new(&content, length).unwrap();
            assert_eq!(repeated.len(), length);
            assert!(repeated.iter().zip(content.iter().cycle()).all(|(got, expected)| got == expected), "{length}");
        }
    }

    #[test]
    fn only_whole_pages_repeat() {
        let page = page_size();
        for (content, length) in [(0, 1), (page - 1, page), (page + 1, 5 * page), (page, 0)] {
            let error = Repeated::new(&vec![7; content], length).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{content} {length}");
        }
        assert!(Repeated::new(&vec![7; page], usize::MAX / 2).is_err(), "no address space has that");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn it_takes_no_memory_of_the_process() {
        const LENGTH: usize = 1 << 30;
        let anonymous = || crate::report::Memory::now().anonymous.unwrap();
        let content = vec![1; 16 * page_size()];
        let before = anonymous();
        let repeated = Repeated::new(&content, LENGTH).unwrap();
        assert_eq!(repeated.iter().map(|byte| u64::from(*byte)).sum::<u64>(), LENGTH as u64);
        // Other tests take some meanwhile.
        assert!(anonymous() < before + LENGTH as u64 / 2);
    }
}
