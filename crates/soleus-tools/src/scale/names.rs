//! Marker names of different laboratories, and the landmarks they denote.
//!
//! Supported are those of Plug-in Gait, Helen Hayes, the Cleveland Clinic, OpenCap, the full-body sets of OpenSim's
//! models, and the recommendations of the ISB (Wu et al. 2002, 2005; van Sint Jan 2007). Clusters are recognized by
//! their numbers.

/// Landmarks with a left and a right one, and their names without a side, in small letters and digits alone.
const SIDED: [(&str, &[&str]); 27] = [
    ("ASIS", &["asis", "asi", "ias", "anteriorsuperioriliacspine"]),
    ("PSIS", &["psis", "psi", "ips", "posteriorsuperioriliacspine"]),
    ("hip joint centre", &["hjc", "hipjc", "hipjointcenter", "hipjointcentre", "hipcenter"]),
    ("greater trochanter", &["gtr", "gt", "ftc", "troch", "trochanter", "greatertrochanter"]),
    (
        "lateral epicondyle of the knee",
        &["lfc", "knee", "kne", "kneelat", "kneelateral", "kneeouter", "fle", "lfe", "lek", "klat", "knee1"],
    ),
    (
        "medial epicondyle of the knee",
        &[
            "mfc",
            "mknee",
            "kneemed",
            "kneemedial",
            "kneeinner",
            "fme",
            "mfe",
            "mek",
            "kneem",
            "mkne",
            "knem",
            "kmed",
            "knee2",
        ],
    ),
    ("knee joint centre", &["kjc", "kneejc", "kneejoint", "kneejointcenter"]),
    (
        "lateral malleolus",
        &[
            "lmal",
            "ankle",
            "ank",
            "anklelat",
            "anklelateral",
            "ankleouter",
            "fal",
            "lma",
            "malleoluslat",
            "mall",
        ],
    ),
    (
        "medial malleolus",
        &[
            "mmal",
            "mankle",
            "anklemed",
            "anklemedial",
            "ankleinner",
            "tam",
            "mma",
            "mank",
            "ankm",
            "malleolusmed",
        ],
    ),
    ("ankle joint centre", &["ajc", "anklejc", "anklejoint", "anklejointcenter"]),
    ("heel", &["heel", "hee", "cal", "calc", "calcn", "fcc", "heelback"]),
    ("toe", &["toe", "fm2", "mt2", "toetip", "meta2", "d2m"]),
    ("fifth metatarsal", &["mt5", "5meta", "fm5", "meta5", "d5m", "toelat", "mtp5", "vmh", "met"]),
    ("first metatarsal", &["mt1", "1meta", "fm1", "meta1", "d1m", "toemed", "mtp1"]),
    ("fibula head", &["fax", "fibulahead", "hf"]),
    ("tibial tuberosity", &["ttc", "tibialtuberosity", "tt"]),
    ("acromion", &["acr", "acromium", "acromion", "shoulder", "should", "sho", "sae", "ac"]),
    ("shoulder joint centre", &["sjc", "shoulderjc"]),
    (
        "lateral epicondyle of the elbow",
        &["lel", "elbow", "elb", "lelbow", "hle", "elblat", "elbowlat", "elbowlateral"],
    ),
    (
        "medial epicondyle of the elbow",
        &["mel", "melbow", "hme", "elbmed", "elbowmed", "elbowmedial", "elbm"],
    ),
    ("elbow joint centre", &["ejc", "elbowjc"]),
    (
        "radial styloid",
        &["faradius", "wra", "rsp", "lwrist", "wristlat", "wristlateral", "wrist", "wristrad"],
    ),
    ("ulnar styloid", &["faulna", "wrb", "usp", "mwrist", "wristmed", "wristmedial", "wristuln"]),
    ("wrist joint centre", &["wjc", "wristjc"]),
    ("hand", &["fin", "hm2", "hand", "hnknuckle"]),
    ("front of the head", &["fhd", "temple", "headfront"]),
    ("back of the head", &["bhd", "headback"]),
];

/// Landmarks in the middle.
const MIDDLE: [(&str, &[&str]); 6] = [
    ("C7", &["c7", "cv7", "vertebrac7"]),
    ("jugular notch", &["clav", "clavicle", "ij", "sjn", "jugularnotch", "sternalnotch", "sternoclavicular"]),
    ("sternum", &["strn", "sternum", "px", "sxs", "xiphoid", "xiphoidprocess"]),
    ("sacrum", &["sacr", "vsacral", "sacral", "sacrum", "s2", "s1", "msacr"]),
    ("T10", &["t10", "tv10"]),
    ("top of the head", &["tophead", "headtop", "vertex"]),
];

/// Segments of clusters, and how their names begin.
const CLUSTERS: [(&str, &[&str]); 4] = [
    ("thigh cluster", &["thigh", "thi", "th"]),
    ("shank cluster", &["shank", "tibia", "tib", "tb", "sh", "sk"]),
    ("upper arm cluster", &["upperarm", "upa", "ua", "bicep", "biceps", "humerus"]),
    ("forearm cluster", &["forearm", "frm", "fa", "fasuperior"]),
];

/// A landmark and its side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landmark {
    /// `r`, `l`, or `m` for the middle.
    pub side: char,
    /// Name of the landmark; clusters with their number.
    pub name: String,
}

/// The landmark of a marker name, if it is recognized.
pub fn landmark(label: &str) -> Option<Landmark> {
    let mut s: String = label.to_lowercase().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    if let Some(stem) = s.strip_suffix("study") {
        s = stem.to_string();
    }
    if let Some((name, _)) = MIDDLE.iter().find(|(_, names)| names.contains(&s.as_str())) {
        return Some(Landmark { side: 'm', name: name.to_string() });
    }
    let sides = [("right", 'r'), ("left", 'l'), ("r", 'r'), ("l", 'l')];
    let stems = sides.iter().flat_map(|(word, side)| {
        [s.strip_prefix(word).map(|stem| (stem, *side)), s.strip_suffix(word).map(|stem| (stem, *side))]
    });
    stems.flatten().find_map(|(stem, side)| on_side(stem).map(|name| Landmark { side, name }))
}

/// The landmark of a name without its side.
fn on_side(stem: &str) -> Option<String> {
    if let Some((name, _)) = SIDED.iter().find(|(_, names)| names.contains(&stem)) {
        return Some(name.to_string());
    }
    let letters = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &stem[letters.len()..];
    let (name, _) = CLUSTERS.iter().find(|(_, names)| names.contains(&letters))?;
    // A single marker on a segment is its first.
    Some(format!("{name} {}", if number.is_empty() { "1" } else { number }))
}

/// Correspondence between markers of data and model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matched {
    /// Pairs of names on the model and in the data that differ.
    pub renamed: Vec<[String; 2]>,
    /// Number of identical names.
    pub same: usize,
    /// Markers of the data without a counterpart in the model.
    pub unknown: Vec<String>,
    /// Markers of the model without a counterpart in the data.
    pub missing: Vec<String>,
}

/// Matches the markers of data with those of a model: by `map` (names in the data and on the model), by name, by name
/// ignoring case and punctuation, by landmark.
pub fn match_markers(model: &[String], data: &[String], map: &[[String; 2]]) -> Matched {
    let plain =
        |s: &str| -> String { s.to_lowercase().chars().filter(|c| c.is_ascii_alphanumeric()).collect() };
    let mut of_model: Vec<Option<usize>> = vec![None; model.len()];
    let mut taken = vec![false; data.len()];
    let mut pass = |same: &dyn Fn(&str, &str) -> bool| {
        for (m, name) in model.iter().enumerate() {
            if of_model[m].is_none()
                && let Some(d) = (0..data.len()).find(|&d| !taken[d] && same(name, &data[d]))
            {
                (of_model[m], taken[d]) = (Some(d), true);
            }
        }
    };
    pass(&|m, d| map.iter().any(|[lab, own]| lab == d && own == m));
    // What a user mapped elsewhere is not taken by its name.
    let is_free = |m: &str, d: &str| !map.iter().any(|[lab, own]| lab == d || own == m);
    pass(&|m, d| m == d && is_free(m, d));
    pass(&|m, d| plain(m) == plain(d) && is_free(m, d));
    pass(&|m, d| is_free(m, d) && landmark(m).is_some_and(|a| landmark(d) == Some(a)));
    let mut found = Matched::default();
    for (name, d) in model.iter().zip(&of_model) {
        match d {
            Some(d) if data[*d] == *name => found.same += 1,
            Some(d) => found.renamed.push([name.clone(), data[*d].clone()]),
            None => found.missing.push(name.clone()),
        }
    }
    found.unknown = data.iter().zip(&taken).filter(|(_, t)| !**t).map(|(d, _)| d.clone()).collect();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(names: &[&str], side: char, name: &str) {
        for n in names {
            assert_eq!(landmark(n), Some(Landmark { side, name: name.to_string() }), "{n}");
        }
    }

    #[test]
    fn analytic_one_place_in_many_laboratories() {
        same(&["RASI", "R.ASIS", "r.ASIS_study", "RIAS", "R_ASIS", "right_asis", "ASIS_R"], 'r', "ASIS");
        same(
            &["LKNE", "L.Knee.Lat", "L_knee_study", "LLFC", "LFLE", "L.Knee"],
            'l',
            "lateral epicondyle of the knee",
        );
        same(
            &["RMFC", "R.Knee.Med", "r_mknee_study", "RFME", "R.MKnee"],
            'r',
            "medial epicondyle of the knee",
        );
        same(&["RANK", "RLMAL", "R.Ankle.Lat", "r_ankle_study", "RFAL"], 'r', "lateral malleolus");
        same(&["LHEE", "LCAL", "L.Heel", "L_calc_study", "LFCC"], 'l', "heel");
        same(&["RMT5", "r_5meta_study", "RFM5", "R.MT5"], 'r', "fifth metatarsal");
        same(&["RSHO", "RACR", "R.Acromium", "r_shoulder_study"], 'r', "acromion");
        same(&["C7", "C7_study", "CV7"], 'm', "C7");
        same(&["r met", "RMT5"], 'r', "fifth metatarsal");
        same(&["l mall", "LANK"], 'l', "lateral malleolus");
        same(&["SACR", "V.Sacral", "S2"], 'm', "sacrum");
        same(&["RTH2", "R.TH2", "r_thigh2_study"], 'r', "thigh cluster 2");
        same(&["LTB1", "L.SH1", "L_sh1_study", "LTIB"], 'l', "shank cluster 1");
        assert_eq!(landmark("Pole7"), None);
    }

    #[test]
    fn analytic_what_a_user_maps_wins() {
        let list = |s: &str| s.split(' ').map(String::from).collect::<Vec<_>>();
        let (model, data) = (list("RASI LASI RLFC RMFC C7"), list("R.ASIS lasi R.Knee Bump C7"));
        let found = match_markers(&model, &data, &[]);
        let pair = |a: &str, b: &str| [a.to_string(), b.to_string()];
        assert_eq!(found.renamed, [pair("RASI", "R.ASIS"), pair("LASI", "lasi"), pair("RLFC", "R.Knee")]);
        assert_eq!((found.same, found.unknown, found.missing), (1, list("Bump"), list("RMFC")));
        let found = match_markers(&model, &data, &[pair("Bump", "RLFC")]);
        assert!(found.renamed.contains(&pair("RLFC", "Bump")));
        assert_eq!(found.unknown, list("R.Knee"));
    }
}
