//! Setup files: properties of tools that were renamed.

use soleus_model::Element;

use super::Upgrade;
use super::tree::visit;

/// Old and new names of properties of tools, and the version that changed them.
/// Source: `AbstractTool::updateFromXMLNode` of OpenSim 4.6.
const RENAMED: &[(u32, &str, &str)] =
    &[(10900, "replace_actuator_set", "replace_force_set"), (10904, "actuator_set_files", "force_set_files")];

/// Renames the properties of tools.
pub fn rename_properties(root: &mut Element, up: &mut Upgrade<'_>) {
    let version = up.version;
    visit(root, &mut |e| {
        if e.tag.ends_with("Tool") {
            for (until, old, new) in RENAMED {
                if version < *until {
                    e.rename_child(old, new);
                }
            }
        }
    });
}
