package ecosystem

import (
	"slices"
	"strings"
)

// VersionDiffers compares the first parts of two versions, as many as the first has.
// No version at all differs.
func VersionDiffers(wanted, has string, parts int) bool {
	w, h := strings.Split(wanted, "."), strings.Split(has, ".")
	n := min(parts, len(w), len(h))
	return wanted == "" || !slices.Equal(w[:n], h[:n])
}
