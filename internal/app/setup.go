package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"

	"company/internal/office/config"
)

// HashSetup returns a hash of what a process reads only at its start: its program, the folder and the config of its
// office, and the environment that the work depends on. A client compares it with its own, and replaces a company that
// would work differently.
func HashSetup(root string, loaded config.Loaded, environ []string) string {
	var read []string
	names := secretNames(loaded.Config)
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if config.IsRead(name) || slices.Contains(names, name) {
			read = append(read, variable)
		}
	}
	slices.Sort(read)
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n%s\n%q", identifyProgram(), root, loaded.Hash, read)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// identifyProgram returns the path of this program with the time and size of its file, or "" if it is unknown.
func identifyProgram() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(self)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", self, info.ModTime().UnixNano(), info.Size())
}
