package php

import (
	"path"
	"slices"
)

// IsGateFile says whether a file configures a check; the manifest says which code is
// loaded in the tests.
func (Ecosystem) IsGateFile(file string) bool {
	name := path.Base(file)
	return name == manifest || name == "bootstrap.php" || slices.Contains(settings, name) || slices.Contains(lintSettings, name)
}
