package java

import (
	"path"
	"strings"

	"company/internal/ecosystem"
)

// gateFiles lists files that define how a project is built, tested and linted.
var gateFiles = []string{
	pomFile, "maven.config", "jvm.config", "extensions.xml", "mvnw", "mvnw.cmd", "maven-wrapper.properties",
	"maven.properties", "settings.xml", "local-settings.xml", "develocity.xml",
	"*.gradle", "*.gradle.kts", "gradle.properties", "gradlew", "gradlew.bat", "gradle-wrapper.properties",
	"*.versions.toml",
	"junit-platform.properties", "testng*.xml", "lombok.config",
	"checkstyle*.xml", "pmd*.xml", "spotbugs*.xml", "findbugs*.xml", "detekt*.yml", ".ktlint",
}

// IsGateFile reports whether a file configures a check, is build code, or lists extensions of JUnit or TestNG.
func (Ecosystem) IsGateFile(file string) bool {
	dir, name := path.Split(file)
	if strings.HasSuffix(dir, "META-INF/services/") &&
		(strings.HasPrefix(name, "org.junit.") || strings.HasPrefix(name, "org.testng.")) {
		return true
	}
	return ecosystem.HasName(file, gateFiles) || ecosystem.LiesIn(file, "buildSrc")
}
