//! CUDA, loaded at run time: it is not needed to build, and an error explains if it is missing.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Why a device cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CudaError {
    /// A missing library.
    #[error("{library} was not found{hint}")]
    NoLibrary {
        /// File name.
        library: String,
        /// Remedy, after a colon; may be empty.
        hint: &'static str,
    },
    /// A call failed.
    #[error("the CUDA call {call} failed with code {code}")]
    Call {
        /// The function.
        call: &'static str,
        /// Return code.
        code: i32,
    },
    /// An error of the compiler in generated source code.
    #[error("NVRTC: {0}")]
    Compile(String),
}

struct Library(*mut c_void);

impl Library {
    fn open(file: &str, hint: &'static str) -> Result<Library, CudaError> {
        let no = || CudaError::NoLibrary { library: file.to_string(), hint };
        let name = CString::new(file).map_err(|_| no())?;
        // SAFETY: the name ends with a zero, and 2 (RTLD_NOW) is a flag of dlopen.
        let library = unsafe { dlopen(name.as_ptr(), 2) };
        if library.is_null() { Err(no()) } else { Ok(Library(library)) }
    }

    fn symbol(&self, name: &CStr) -> Result<*mut c_void, CudaError> {
        // SAFETY: the library was opened and is never closed.
        let symbol = unsafe { dlsym(self.0, name.as_ptr()) };
        let library = name.to_string_lossy().into_owned();
        if symbol.is_null() { Err(CudaError::NoLibrary { library, hint: "" }) } else { Ok(symbol) }
    }
}

/// Calls a function of a library that returns a code.
macro_rules! call {
    ($library:expr, $name:ident ( $($value:expr => $kind:ty),* )) => {{
        const NAME: &str = concat!(stringify!($name), "\0");
        let name = CStr::from_bytes_with_nul(NAME.as_bytes()).unwrap_or_default();
        let symbol = $library.symbol(name)?;
        // SAFETY: the signature is that of CUDA's headers for this function.
        let code = unsafe {
            let function: unsafe extern "C" fn($($kind),*) -> c_int = std::mem::transmute(symbol);
            function($($value),*)
        };
        if code == 0 { Ok(()) } else { Err(CudaError::Call { call: stringify!($name), code }) }
    }};
}

/// Compiler settings for CUDA C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compile {
    /// File name of NVRTC, `libnvrtc.so.12` if it is on the search path.
    pub library: String,
    /// Device architecture, `sm_90`.
    pub architecture: String,
    /// Whether to use fast functions and divisions of the device, accurate to about 1e-6; for `f32`.
    pub fast: bool,
    /// Number of compiler threads, if supported; 0 for all.
    pub threads: usize,
}

/// Store of compiled kernels, by the digest of their source and compiler settings.
pub trait KernelStore {
    /// The binary for a digest.
    fn read(&self, digest: &str) -> Option<Vec<u8>>;
    /// Stores the binary for a digest.
    fn write(&mut self, digest: &str, binary: &[u8]);
}

impl Compile {
    /// Key of the binary of a source: two 64-bit hashes (FNV-1a, with two initial values) of everything that it depends
    /// on.
    pub fn digest(&self, source: &str) -> String {
        let how = [self.architecture.as_bytes(), &[u8::from(self.fast)], self.library.as_bytes()];
        let sum = |start: u64| {
            let bytes = how.iter().copied().chain([source.as_bytes()]).flatten();
            bytes.fold(start, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
        };
        format!("{:016x}{:016x}", sum(0xcbf2_9ce4_8422_2325), sum(0x9e37_79b9_7f4a_7c15))
    }

    /// The binary of a source, from the store if available.
    pub fn stored(&self, source: &str, store: &mut dyn KernelStore) -> Result<Vec<u8>, CudaError> {
        let digest = self.digest(source);
        if let Some(binary) = store.read(&digest) {
            return Ok(binary);
        }
        let binary = self.compile(source)?;
        store.write(&digest, &binary);
        Ok(binary)
    }

    /// Compiles a source to a binary for the driver.
    pub fn compile(&self, source: &str) -> Result<Vec<u8>, CudaError> {
        // Compilers before CUDA 12 know no threads.
        const UNKNOWN_OPTION: i32 = 5;
        match compile(self, source, true) {
            Err(CudaError::Call { call: "nvrtcCompileProgram", code: UNKNOWN_OPTION }) => {
                compile(self, source, false)
            }
            other => other,
        }
    }
}

fn compile(how: &Compile, source: &str, split: bool) -> Result<Vec<u8>, CudaError> {
    let rtc =
        Library::open(&how.library, ": install CUDA's toolkit or the Python package nvidia-cuda-nvrtc-cu12")?;
    let text = CString::new(source).map_err(|_| CudaError::Compile("source with a zero".to_string()))?;
    let name = c"soleus.cu";
    let mut program: *mut c_void = std::ptr::null_mut();
    call!(rtc, nvrtcCreateProgram(&mut program => *mut *mut c_void, text.as_ptr() => *const c_char,
        name.as_ptr() => *const c_char, 0 => c_int, std::ptr::null() => *const *const c_char,
        std::ptr::null() => *const *const c_char))?;
    let mut options =
        vec![CString::new(format!("--gpu-architecture={}", how.architecture)).unwrap_or_default()];
    if split {
        options.push(CString::new(format!("--split-compile={}", how.threads)).unwrap_or_default());
    }
    if how.fast {
        options.push(c"--use_fast_math".to_owned());
    }
    let pointers: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
    let compiled = call!(rtc, nvrtcCompileProgram(program => *mut c_void, pointers.len() as c_int => c_int,
        pointers.as_ptr() => *const *const c_char));
    // Only a fault of the source has a log that says more.
    const FAULT: i32 = 6;
    if matches!(&compiled, Err(CudaError::Call { code, .. }) if *code != FAULT) {
        return compiled.map(|()| Vec::new());
    }
    if compiled.is_err() {
        let mut size = 0;
        call!(rtc, nvrtcGetProgramLogSize(program => *mut c_void, &mut size => *mut usize))?;
        let mut log = vec![0u8; size];
        call!(rtc, nvrtcGetProgramLog(program => *mut c_void, log.as_mut_ptr() => *mut u8))?;
        return Err(CudaError::Compile(String::from_utf8_lossy(&log).into_owned()));
    }
    let mut size = 0;
    call!(rtc, nvrtcGetCUBINSize(program => *mut c_void, &mut size => *mut usize))?;
    let mut binary = vec![0u8; size];
    call!(rtc, nvrtcGetCUBIN(program => *mut c_void, binary.as_mut_ptr() => *mut u8))?;
    call!(rtc, nvrtcDestroyProgram(&mut program => *mut *mut c_void))?;
    Ok(binary)
}

/// A device with a driver.
pub struct Device {
    driver: Library,
}

/// Memory on a device.
#[derive(Clone, Copy, Debug)]
pub struct Memory(u64);

impl Memory {
    /// The address on the device, for sharing with other programs.
    pub fn address(self) -> u64 {
        self.0
    }

    /// The address a number of bytes later.
    pub fn offset(self, bytes: usize) -> Memory {
        Memory(self.0 + bytes as u64)
    }
}

/// A loaded kernel, and the bytes of shared memory that a block of it needs.
#[derive(Clone, Copy, Debug)]
pub struct Kernel(*mut c_void, u32);

impl Device {
    /// The first device of this machine.
    pub fn first() -> Result<Device, CudaError> {
        let driver = Library::open("libcuda.so.1", ": it is part of the NVIDIA driver")?;
        call!(driver, cuInit(0 => c_uint))?;
        let (mut device, mut context): (c_int, *mut c_void) = (0, std::ptr::null_mut());
        call!(driver, cuDeviceGet(&mut device => *mut c_int, 0 => c_int))?;
        call!(driver, cuDevicePrimaryCtxRetain(&mut context => *mut *mut c_void, device => c_int))?;
        call!(driver, cuCtxSetCurrent(context => *mut c_void))?;
        Ok(Device { driver })
    }

    /// Its name.
    pub fn name(&self) -> Result<String, CudaError> {
        let mut name = [0u8; 128];
        call!(self.driver, cuDeviceGetName(name.as_mut_ptr() => *mut u8, 128 => c_int, 0 => c_int))?;
        Ok(String::from_utf8_lossy(&name).trim_end_matches('\0').to_string())
    }

    /// Loads a kernel from a binary.
    pub fn load(&self, binary: &[u8], name: &str) -> Result<Kernel, CudaError> {
        let zero = |_| CudaError::Compile("a name with a zero".to_string());
        let size_of_it = CString::new(format!("{name}_shared")).map_err(zero)?;
        let name = CString::new(name).map_err(zero)?;
        let (mut module, mut kernel): (*mut c_void, *mut c_void) =
            (std::ptr::null_mut(), std::ptr::null_mut());
        call!(self.driver, cuModuleLoadData(&mut module => *mut *mut c_void, binary.as_ptr() => *const u8))?;
        call!(self.driver, cuModuleGetFunction(&mut kernel => *mut *mut c_void, module => *mut c_void,
            name.as_ptr() => *const c_char))?;
        let (mut at, mut bytes, mut shared) = (Memory(0), 0usize, [0 as c_int]);
        call!(self.driver, cuModuleGetGlobal_v2(&mut at.0 => *mut u64, &mut bytes => *mut usize, module => *mut c_void,
            size_of_it.as_ptr() => *const c_char))?;
        self.read(at, &mut shared)?;
        // More than 48 KiB must be asked for.
        const LARGEST_SHARED_MEMORY: c_int = 8;
        call!(self.driver, cuFuncSetAttribute(kernel => *mut c_void, LARGEST_SHARED_MEMORY => c_int, shared[0] => c_int))?;
        Ok(Kernel(kernel, shared[0].unsigned_abs()))
    }

    /// Allocates memory, in bytes.
    pub fn allocate(&self, bytes: usize) -> Result<Memory, CudaError> {
        let mut memory = 0;
        call!(self.driver, cuMemAlloc_v2(&mut memory => *mut u64, bytes => usize))?;
        Ok(Memory(memory))
    }

    /// Frees memory.
    pub fn free(&self, memory: Memory) -> Result<(), CudaError> {
        call!(self.driver, cuMemFree_v2(memory.0 => u64))
    }

    /// Copies numbers to the device.
    pub fn write<T: Copy>(&self, to: Memory, from: &[T]) -> Result<(), CudaError> {
        call!(self.driver, cuMemcpyHtoD_v2(to.0 => u64, from.as_ptr().cast() => *const c_void,
            size_of_val(from) => usize))
    }

    /// Copies numbers from the device.
    pub fn read<T: Copy>(&self, from: Memory, to: &mut [T]) -> Result<(), CudaError> {
        call!(self.driver, cuMemcpyDtoH_v2(to.as_mut_ptr().cast() => *mut c_void, from.0 => u64,
            size_of_val(to) => usize))
    }

    /// Number of multiprocessors.
    pub fn multiprocessors(&self) -> Result<usize, CudaError> {
        const MULTIPROCESSORS: c_int = 16;
        let mut count: c_int = 0;
        call!(self.driver, cuDeviceGetAttribute(&mut count => *mut c_int, MULTIPROCESSORS => c_int, 0 => c_int))?;
        Ok(usize::try_from(count).unwrap_or(1))
    }

    /// Device architecture, in the notation of compilers: `sm_90`.
    pub fn architecture(&self) -> Result<String, CudaError> {
        let mut parts = [0; 2];
        for (part, attribute) in parts.iter_mut().zip([75, 76]) {
            call!(self.driver, cuDeviceGetAttribute(part => *mut c_int, attribute => c_int, 0 => c_int))?;
        }
        Ok(format!("sm_{}{}", parts[0], parts[1]))
    }

    /// Registers per thread of a kernel, and bytes of its scratch memory.
    pub fn needs(&self, kernel: Kernel) -> Result<[usize; 2], CudaError> {
        let mut needs = [0; 2];
        for (need, attribute) in needs.iter_mut().zip([4, 3]) {
            let mut value: c_int = 0;
            call!(self.driver, cuFuncGetAttribute(&mut value => *mut c_int, attribute => c_int, kernel.0 => *mut c_void))?;
            *need = usize::try_from(value).unwrap_or(0);
        }
        Ok(needs)
    }

    /// Copies bytes within the device.
    pub fn copy(&self, to: Memory, from: Memory, bytes: usize) -> Result<(), CudaError> {
        call!(self.driver, cuMemcpyDtoD_v2(to.0 => u64, from.0 => u64, bytes => usize))
    }

    /// Launches a kernel `(x, y, n)` for n copies, in blocks of 128; at most `most` blocks, which process the copies in
    /// turn.
    pub fn launch(
        &self,
        kernel: Kernel,
        x: Memory,
        y: Memory,
        n: usize,
        most: usize,
    ) -> Result<(), CudaError> {
        let blocks = n.div_ceil(128).min(most.max(1)) as c_uint;
        let (mut x, mut y, mut n) = (x.0, y.0, n as i64);
        let mut arguments: [*mut c_void; 3] = [(&raw mut x).cast(), (&raw mut y).cast(), (&raw mut n).cast()];
        call!(self.driver, cuLaunchKernel(kernel.0 => *mut c_void, blocks => c_uint, 1 => c_uint, 1 => c_uint,
            128 => c_uint, 1 => c_uint, 1 => c_uint, kernel.1 => c_uint, std::ptr::null_mut() => *mut c_void,
            arguments.as_mut_ptr() => *mut *mut c_void, std::ptr::null_mut() => *mut *mut c_void))
    }

    /// Waits until all work is done.
    pub fn wait(&self) -> Result<(), CudaError> {
        call!(self.driver, cuCtxSynchronize())
    }
}
