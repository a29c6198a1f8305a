//! Files on disk: the only part of the library that opens files.

use super::{Files, Lock};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// No file that a tool reads is larger, bytes. A recording of an hour with a hundred channels takes a tenth.
const LARGEST: u64 = 4 << 30;

/// What comes through a pipe or from a device may have no end, bytes.
const LARGEST_STREAM: u64 = 1 << 30;

/// Files on disk, by their names in the operating system.
#[derive(Debug, Default)]
pub struct Disk {
    /// Temporary files so far; each has a name of its own.
    count: AtomicU64,
}

impl Disk {
    /// Files on disk.
    pub fn new() -> Self {
        Disk::default()
    }

    /// Makes a file of a new name beside `target`. An existing file of that name, or a link, is not touched.
    fn temporary(&self, target: &Path) -> io::Result<(PathBuf, File)> {
        // Another program may have the same process number on another machine that shares the folder.
        for _ in 0..1000 {
            let n = self.count.fetch_add(1, Ordering::Relaxed);
            let path = target.with_file_name(format!(".soleus-{}-{n}.partial", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                done => return Ok((path, done?)),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a temporary file"))
    }
}

/// Whether a shell made this name for something that it passes on: `<(command)`, or stdin.
fn is_passed_on(path: &Path) -> bool {
    ["/dev/fd", "/dev/stdin", "/proc/self/fd"].iter().any(|p| path.starts_with(p))
}

/// `Geometry` folders of installed versions of OpenSim, the newest first: in the folder that `OPENSIM_HOME` names, in
/// `Documents/OpenSim/4.5` of a user, and in folders such as `C:\OpenSim 4.5`, `/opt/opensim-core` or, inside the application,
/// `/Applications/OpenSim 4.5`.
fn geometry_folders(named: Option<&Path>, home: Option<&Path>, roots: &[&str]) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let mut list: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
        list.sort();
        list.reverse();
        list
    };
    let is_opensim = |p: &PathBuf| {
        p.file_name().is_some_and(|n| n.to_string_lossy().to_lowercase().starts_with("opensim"))
    };
    let mut places: Vec<PathBuf> = named.into_iter().map(Path::to_path_buf).collect();
    if let Some(home) = home {
        for folder in ["Documents/OpenSim", "OpenSim"] {
            places.extend(inside(&home.join(folder)));
        }
        places.extend(inside(home).into_iter().filter(is_opensim));
    }
    for root in roots {
        places.extend(inside(Path::new(root)).into_iter().filter(is_opensim));
    }
    let within = |p: PathBuf| {
        let name = p.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let application = p.join(format!("{name}.app/Contents/Resources/opensim/Geometry"));
        [p.join("Geometry"), p.join("share/OpenSim/Geometry"), application]
    };
    places.into_iter().flat_map(within).filter(|p| p.is_dir()).collect()
}

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let about = fs::metadata(path)?;
        if about.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // A pipe that nobody writes to would wait for ever, and a device may have no end.
        let limit = match about.is_file() {
            true => LARGEST,
            false if is_passed_on(path) => LARGEST_STREAM,
            false => return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        };
        let too_large = || {
            let message = format!("larger than {} GB", limit >> 30);
            io::Error::new(io::ErrorKind::FileTooLarge, message)
        };
        if about.len() > limit {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or(0));
        // The file may grow while it is read.
        File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // A link stays, and what it leads to is written. A device or a pipe, such as /dev/null, is written to: a file that is
        // renamed to it would take its place.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if fs::metadata(&target).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            return fs::write(&target, bytes);
        }
        if target.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let (partial, mut file) = self.temporary(&target)?;
        let done = file.write_all(bytes).and_then(|()| {
            // Who could read and write the old file can do so with the new one.
            if let Ok(old) = fs::metadata(&target) {
                let _ = fs::set_permissions(&partial, old.permissions());
            }
            drop(file);
            fs::rename(&partial, &target)
        });
        done.inspect_err(|_| {
            // The part that was written is of no use; if it cannot be removed, the first error matters more.
            let _ = fs::remove_file(&partial);
        })
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        match path.parent() {
            _ if path.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
                // What the operating system says about the folder, or that a file is in its place.
                fs::metadata(folder)?;
                Err(io::ErrorKind::NotADirectory.into())
            }
            _ => Ok(()),
        }
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        if folder.as_os_str().is_empty() { Ok(()) } else { fs::create_dir_all(folder) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file() || (is_passed_on(path) && path.exists())
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn names_in(&self, folder: &Path) -> Vec<String> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect()
    }

    fn lock(&self, path: &Path, lock: Lock) -> io::Result<Box<dyn Send>> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        // The operating system gives it back when the program ends, whatever ends it.
        let locked = match lock {
            Lock::Exclusive => file.try_lock(),
            Lock::Shared => file.try_lock_shared(),
            Lock::Turn => file.lock().map_err(fs::TryLockError::Error),
        };
        match locked {
            Ok(()) => Ok(Box::new(file)),
            Err(fs::TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            // Some network disks have no locks.
            Err(fs::TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => Ok(Box::new(())),
            Err(fs::TryLockError::Error(e)) => Err(e),
        }
    }

    fn geometry_folders(&self) -> Vec<PathBuf> {
        let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let home = variable("HOME").or(variable("USERPROFILE"));
        geometry_folders(
            variable("OPENSIM_HOME").as_deref(),
            home.as_deref(),
            &["/", "/opt", "/usr/local", "/Applications", "C:\\"],
        )
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("soleus-disk-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Where OpenSim is installed its meshes are found, the newest version first, and the folder of the environment before all.
    #[test]
    fn issue_18_geometry_of_opensim_is_found() {
        let folder = folder("geometry");
        let made = [
            "own/Geometry",
            "root/OpenSim 4.4/Geometry",
            "root/OpenSim 4.5/Geometry",
            "home/Documents/OpenSim/4.6/Geometry",
            "root/other/Geometry",
        ];
        made.iter().for_each(|f| fs::create_dir_all(folder.join(f)).unwrap());
        let root = folder.join("root");
        let found = geometry_folders(
            Some(&folder.join("own")),
            Some(&folder.join("home")),
            &[root.to_str().unwrap()],
        );
        let wanted: Vec<PathBuf> = [0, 3, 2, 1].map(|i: usize| folder.join(made[i])).into();
        assert_eq!(found, wanted);
        fs::remove_dir_all(folder).unwrap();
    }

    /// A user's own file of the old fixed temporary name stays as it is, and so does what links of temporary names lead to.
    #[test]
    fn issue_16_temporary_names_take_nothing() {
        let folder = folder("names");
        let (out, old) = (folder.join("a.sto"), folder.join("a.sto.partial"));
        fs::write(&old, "mine").unwrap();
        Disk::new().write(&out, b"new").unwrap();
        assert_eq!(fs::read(&out).unwrap(), b"new");
        assert_eq!(fs::read(&old).unwrap(), b"mine");
        // Names that would be next may be taken already, by links too: these are not followed.
        #[cfg(unix)]
        {
            let victim = folder.join("victim.txt");
            fs::write(&victim, "mine").unwrap();
            let next = |n: u32| folder.join(format!(".soleus-{}-{n}.partial", std::process::id()));
            for n in 0..3 {
                std::os::unix::fs::symlink(&victim, next(n)).unwrap();
            }
            Disk::new().write(&out, b"newer").unwrap();
            assert_eq!(fs::read(&out).unwrap(), b"newer");
            assert_eq!(fs::read(&victim).unwrap(), b"mine");
            assert!((0..3).all(|n| fs::symlink_metadata(next(n)).is_ok_and(|m| m.is_symlink())));
            assert!(!next(3).exists());
        }
        // A name of 255 bytes is the longest that a disk takes.
        let long = folder.join("n".repeat(255));
        Disk::new().write(&long, b"long").unwrap();
        assert_eq!(fs::read(&long).unwrap(), b"long");
        fs::remove_dir_all(folder).unwrap();
    }

    /// Writers at the same time: a reader sees one of them whole.
    #[test]
    fn issue_16_concurrent_writers_leave_whole_files() {
        let folder = folder("writers");
        let out = folder.join("a.sto");
        std::thread::scope(|s| {
            for letter in [b'a', b'b'] {
                let out = &out;
                s.spawn(move || {
                    (0..200).for_each(|_| Disk::new().write(out, &vec![letter; 100_000]).unwrap())
                });
            }
            for _ in 0..200 {
                if let Ok(bytes) = Disk::new().read(&out) {
                    assert!(bytes.len() == 100_000 && bytes.iter().all(|b| *b == bytes[0]));
                }
            }
        });
        assert_eq!(Disk::new().names_in(&folder), ["a.sto"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn issue_16_devices_without_end_are_refused() {
        assert_eq!(Disk::new().read(Path::new("/dev/zero")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        Disk::new().write(Path::new("/dev/null"), b"x").unwrap();
        assert!(!Path::new("/dev/null").is_file());
        // A pipe that nobody writes to: whoever opens it waits for ever.
        let folder = folder("devices");
        let pipe = folder.join("pipe.trc");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|s| s.success()) {
            assert_eq!(Disk::new().read(&pipe).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
