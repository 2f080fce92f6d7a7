package java

import (
	"path"
	"slices"
)

// gateFiles say how a project is built and tested.
var gateFiles = []string{pomFile, "maven.config", "jvm.config", "extensions.xml", "junit-platform.properties", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}

// IsGateFile says whether a file configures a check.
func (Ecosystem) IsGateFile(file string) bool { return slices.Contains(gateFiles, path.Base(file)) }
