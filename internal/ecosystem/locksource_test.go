package ecosystem

import "testing"

// A folder of the tree is known by its path alone, and no client reads more in that than a folder.
func TestIsTreeFolder(t *testing.T) {
	for folder, want := range map[string]bool{
		".": true, "./parts/gamma": true, "../lib-b": true, "My Parts/x_1": true, "@own/c++": true, "v1.0": true,
		"": false, "../../x": false, "/x": false, "~/x": false, "$HOME/x": false, "%TEMP%/x": false, "c:x": false,
		`..\x`: false, "-rx": false, "x -r y": false, "x\n-r y": false, "x ; y": false, "x#egg=y": false, "x ": false,
		"git+https://x.example": false, "x.whl": false, "x.whl/": false, "x.whl/.": false, "x.whl.": false,
		"x.tar.lz": false, "x.TAR.Gz": false, "x.tlz": false, "x.whl y": false, "x.egg": false, "x.tar.zst": false,
	} {
		if got := IsTreeFolder("a/x.lock", folder); got != want {
			t.Errorf("%q: %v", folder, got)
		}
	}
}
