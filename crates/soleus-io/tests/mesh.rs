//! One tetrahedron in every format, and damage to it.

use proptest::prelude::*;
use soleus_io::mesh::{Mesh, MeshError, read_mesh};

const CORNERS: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const FACES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

fn obj() -> String {
    let v: String = CORNERS.iter().map(|c| format!("v {} {} {}\n", c[0], c[1], c[2])).collect();
    let f: String =
        FACES.iter().map(|f| format!("f {}/1/1 {}//2 {}\n", f[0] + 1, f[1] + 1, f[2] + 1)).collect();
    format!("# tetrahedron\n{v}vn 0 0 1\n{f}")
}

fn stl_ascii() -> String {
    let mut s = String::from("solid tetrahedron\n");
    for f in FACES {
        s.push_str("facet normal 0 0 1\n outer loop\n");
        for i in f {
            let c = CORNERS[i as usize];
            // The same corner within single precision is the same vertex.
            s.push_str(&format!("  vertex {} {} {}\n", c[0] + 1e-7, c[1], c[2]));
        }
        s.push_str(" endloop\nendfacet\n");
    }
    s + "endsolid\n"
}

fn stl_binary() -> Vec<u8> {
    let mut b = b"solid but binary".to_vec();
    b.resize(80, 0);
    b.extend(4u32.to_le_bytes());
    for f in FACES {
        b.extend([0u8; 12]);
        for i in f {
            b.extend(CORNERS[i as usize].iter().flat_map(|x| (*x as f32).to_le_bytes()));
        }
        b.extend([0u8; 2]);
    }
    b
}

fn vtp() -> String {
    let flat = |v: Vec<String>| v.join(" ");
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"4\">\
         <Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">{}</DataArray></Points>\
         <Polys><DataArray Name=\"connectivity\" format=\"ascii\">{}</DataArray>\
         <DataArray Name=\"offsets\" format=\"ascii\">3 6 9 12</DataArray></Polys></Piece></PolyData></VTKFile>",
        flat(CORNERS.iter().flatten().map(f64::to_string).collect()),
        flat(FACES.iter().flatten().map(u32::to_string).collect()),
    )
}

/// Volume by the divergence theorem, V = Σ a·(b × c)/6 over triangles: it needs the right
/// corners, joined, in the right order.
fn volume(mesh: &Mesh) -> f64 {
    let v = |i: u32| mesh.vertices[i as usize];
    let fan = |f: &Vec<u32>| (2..f.len()).map(|k| v(f[0]).dot(v(f[k - 1]).cross(v(f[k])))).sum::<f64>();
    mesh.faces.iter().map(fan).sum::<f64>() / 6.0
}

#[test]
fn analytic_tetrahedron_in_every_format() {
    for (name, bytes) in [
        ("t.obj", obj().into_bytes()),
        ("t.stl", stl_ascii().into_bytes()),
        ("t.STL", stl_binary()),
        ("t.vtp", vtp().into_bytes()),
    ] {
        let mesh = read_mesh(&bytes, name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((mesh.vertices.len(), mesh.faces.len()), (4, 4), "{name}");
        // The ascii file is moved by 1e-7; a shift does not change the volume beyond rounding.
        assert!((volume(&mesh) - 1.0 / 6.0).abs() < 1e-12, "{name}: {}", volume(&mesh));
    }
}

#[test]
fn analytic_negative_indices_and_continued_lines() {
    let mesh = read_mesh(b"v 0 0 0\nv 1 0 0\nv 0 \\\n1 0\nf -3 -2 -1\n", "t.obj").unwrap_or_default();
    assert_eq!(mesh.faces, [[0, 1, 2]]);
}

#[test]
fn analytic_damage_is_named() {
    let line = |e: MeshError| match e {
        MeshError::Malformed { line, .. } | MeshError::NoSuchVertex { line, .. } => line,
        MeshError::UnknownFormat { .. } => u32::MAX,
    };
    for (name, text, at) in [
        ("a.obj", "v 1 2\n", 1),
        ("a.obj", "v 0 0 0\nf 1 2\n", 2),
        ("a.obj", "v 0 0 0\nf 1 x 1\n", 2),
        ("a.obj", "f 0 1 2\n", 1),
        ("a.obj", "v 0 0 0\nf 1 1 9\n", 0),
        ("a.stl", "solid\nfacet normal 0 0 1\nvertex 1 2\n", 3),
        ("a.stl", "solid\nfacet normal 0 0 1\nendfacet\n", 3),
        ("a.stl", "solid\nfacet normal 0 0 1\n", 0),
        ("a.stl", "too short", 0),
        ("a.vtp", "<VTKFile/>", 1),
        ("a.vtp", "no xml", 1),
        ("a.ply", "", u32::MAX),
    ] {
        let error = read_mesh(text.as_bytes(), name).expect_err(text);
        assert_eq!(line(error.clone()), at, "{error}");
    }
    // A header that promises four billion facets is refused before anything is reserved.
    let mut b = stl_binary();
    b[80..84].fill(0xFF);
    assert!(read_mesh(&b, "a.stl").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn identity_any_damage_is_answered(
        kind in 0usize..4,
        cut in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        truncate in any::<bool>(),
    ) {
        let (name, mut bytes) = match kind {
            0 => ("t.obj", obj().into_bytes()),
            1 => ("t.stl", stl_ascii().into_bytes()),
            2 => ("t.stl", stl_binary()),
            _ => ("t.vtp", vtp().into_bytes()),
        };
        for (at, b) in edits {
            let n = bytes.len();
            bytes[at.index(n)] = b;
        }
        if truncate {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(mesh) = read_mesh(&bytes, name) {
            prop_assert!(mesh.faces.iter().flatten().all(|&v| (v as usize) < mesh.vertices.len()));
            prop_assert!(mesh.faces.iter().all(|f| f.len() >= 3));
        }
    }
}
