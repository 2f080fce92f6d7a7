package ecosystem

import (
	"slices"
	"strings"
)

// VersionDiffers reports whether the first parts of two versions differ. It compares at most as many parts as each
// version has. An empty wanted version always differs.
func VersionDiffers(wanted, has string, parts int) bool {
	w, h := strings.Split(wanted, "."), strings.Split(has, ".")
	n := min(parts, len(w), len(h))
	return wanted == "" || !slices.Equal(w[:n], h[:n])
}
