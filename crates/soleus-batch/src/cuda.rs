//! CUDA, found at run time: nothing of it is needed to build, and where there is none a sentence says so.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Why a device does not compute.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CudaError {
    /// A library is not on this machine.
    #[error("{library} is not on this machine{hint}")]
    NoLibrary {
        /// Its file.
        library: String,
        /// What to do, after a colon; may be empty.
        hint: &'static str,
    },
    /// A call failed.
    #[error("{call} of CUDA failed with code {code}")]
    Call {
        /// The function.
        call: &'static str,
        /// What it returned.
        code: i32,
    },
    /// The compiler found fault with source that was generated.
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

/// Compiles CUDA C for an architecture (`sm_90`) to a binary that a driver loads.
///
/// `library` is NVRTC's file, `libnvrtc.so.12` for one on the search path.
pub fn compile(library: &str, source: &str, architecture: &str, fast: bool) -> Result<Vec<u8>, CudaError> {
    let rtc =
        Library::open(library, ": install CUDA's toolkit or the Python package nvidia-cuda-nvrtc-cu12")?;
    let text = CString::new(source).map_err(|_| CudaError::Compile("source with a zero".to_string()))?;
    let name = c"soleus.cu";
    let mut program: *mut c_void = std::ptr::null_mut();
    call!(rtc, nvrtcCreateProgram(&mut program => *mut *mut c_void, text.as_ptr() => *const c_char,
        name.as_ptr() => *const c_char, 0 => c_int, std::ptr::null() => *const *const c_char,
        std::ptr::null() => *const *const c_char))?;
    let mut options = vec![CString::new(format!("--gpu-architecture={architecture}")).unwrap_or_default()];
    if fast {
        options.push(c"--use_fast_math".to_owned());
    }
    let pointers: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
    let compiled = call!(rtc, nvrtcCompileProgram(program => *mut c_void, pointers.len() as c_int => c_int,
        pointers.as_ptr() => *const *const c_char));
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

/// Memory of a device.
#[derive(Clone, Copy, Debug)]
pub struct Memory(u64);

/// A kernel that was loaded.
#[derive(Clone, Copy, Debug)]
pub struct Kernel(*mut c_void);

impl Device {
    /// The first device of this machine.
    pub fn first() -> Result<Device, CudaError> {
        let driver = Library::open("libcuda.so.1", ": it comes with the driver of an NVIDIA device")?;
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

    /// Loads a kernel of a binary.
    pub fn load(&self, binary: &[u8], name: &str) -> Result<Kernel, CudaError> {
        let name = CString::new(name).map_err(|_| CudaError::Compile("a name with a zero".to_string()))?;
        let (mut module, mut kernel): (*mut c_void, *mut c_void) =
            (std::ptr::null_mut(), std::ptr::null_mut());
        call!(self.driver, cuModuleLoadData(&mut module => *mut *mut c_void, binary.as_ptr() => *const u8))?;
        call!(self.driver, cuModuleGetFunction(&mut kernel => *mut *mut c_void, module => *mut c_void,
            name.as_ptr() => *const c_char))?;
        Ok(Kernel(kernel))
    }

    /// Room for some bytes.
    pub fn allocate(&self, bytes: usize) -> Result<Memory, CudaError> {
        let mut memory = 0;
        call!(self.driver, cuMemAlloc_v2(&mut memory => *mut u64, bytes => usize))?;
        Ok(Memory(memory))
    }

    /// Gives memory back.
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

    /// Starts a kernel `(x, y, n)` for n copies, in blocks of 128.
    pub fn launch(&self, kernel: Kernel, x: Memory, y: Memory, n: usize) -> Result<(), CudaError> {
        let (mut x, mut y, mut n) = (x.0, y.0, n as i64);
        let blocks = (n as u64).div_ceil(128) as c_uint;
        let mut arguments: [*mut c_void; 3] = [(&raw mut x).cast(), (&raw mut y).cast(), (&raw mut n).cast()];
        call!(self.driver, cuLaunchKernel(kernel.0 => *mut c_void, blocks => c_uint, 1 => c_uint, 1 => c_uint,
            128 => c_uint, 1 => c_uint, 1 => c_uint, 0 => c_uint, std::ptr::null_mut() => *mut c_void,
            arguments.as_mut_ptr() => *mut *mut c_void, std::ptr::null_mut() => *mut *mut c_void))
    }

    /// Waits until all is done.
    pub fn wait(&self) -> Result<(), CudaError> {
        call!(self.driver, cuCtxSynchronize())
    }
}
