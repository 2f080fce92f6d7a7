package java

import "strings"

// lacks maps messages of Maven and Gradle about missing packages to explanations for the reader.
var lacks = []struct{ words, howToHave string }{
	{"has not been downloaded from it before", mavenHelp}, {"Could not resolve dependencies for project", mavenHelp},
	{"> Could not resolve all ", gradleHelp}, {"was not found in any of the following sources", gradleHelp},
}

const (
	noRegistry = "\n[there is no network here, and packages of Debian's repository alone: "
	mavenHelp  = noRegistry + "`mvn dependency:go-offline -Dmaven.repo.local=" + ownRepository +
		"` puts others into the project, where they are found]\n"
	gradleHelp = noRegistry +
		"others are found in a folder of the project that its repositories name (flatDir, or maven with a file: address)]\n"
)

// CannotStart reports whether Maven or Gradle gave up because a package is missing, so that nothing was tested.
func (e Ecosystem) CannotStart(command string, exitCode int, output string) bool {
	return exitCode == 1 && (strings.HasPrefix(command, "mvn ") || strings.Contains(command, "gradle ")) &&
		e.ExplainOutput(output) != ""
}

// ExplainOutput explains how to provide a package that Maven or Gradle does not have.
func (Ecosystem) ExplainOutput(output string) string {
	for _, l := range lacks {
		if strings.Contains(output, l.words) {
			return l.howToHave
		}
	}
	return ""
}
