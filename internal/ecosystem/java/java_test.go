package java

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

const test = "src/test/java/ATest.java"

func dependency(group, name string) string {
	return "<dependency><groupId>" + group + "</groupId><artifactId>" + name + "</artifactId></dependency>"
}

// Where the packages of a project come from, and which builder runs its tests.
func TestCommands(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string // is in the command; empty: no project
		notes []string
		needs string
	}{
		"of Debian": {map[string]string{
			"pom.xml": "<project><dependencies>" + dependency("junit", "junit") + dependency("com.google.guava", "guava") +
				"</dependencies></project>", test: ""}, "-Dmaven.repo.local=/usr/share/maven-repo test", nil, "jar-libguava-java"},
		"not of Debian": {map[string]string{
			"pom.xml": "<project><dependencies>" + dependency("com.x", "y") + "</dependencies></project>", test: ""},
			"/usr/share/maven-repo", []string{"pom.xml asks for packages that Debian's Maven repository may not have (com.x:y)"},
			""},
		"of the project": {map[string]string{
			"pom.xml": "<project><dependencies>" + dependency("com.x", "y") + "</dependencies></project>", test: "",
			".m2/repository/com/x/y/1/y-1.pom": "x"}, `-Dmaven.repo.local="$PWD/.m2/repository" test`, nil, ""},
		"by its settings": {map[string]string{"pom.xml": "<project/>", test: "",
			".mvn/maven.config": "-Dmaven.repo.local=lib"}, "mvn -o -B test", nil, ""},
		"no tests": {map[string]string{"pom.xml": "<project/>", "src/main/java/A.java": ""}, "",
			[]string{"a Maven project without tests"}, ""},
		"its own modules": {map[string]string{"pom.xml": "<project><modules><module>core</module></modules></project>",
			"core/pom.xml": "<project><artifactId>core</artifactId></project>", "core/" + test: "",
			"app/pom.xml": "<project><artifactId>app</artifactId><dependencies>" + dependency("x", "core") +
				"</dependencies></project>"},
			"mvn ", nil, ""},
		"Gradle": {map[string]string{"build.gradle": "plugins { id 'java' }\n", test: ""}, "gradle --offline",
			nil, "gradle"},
		"a newer Gradle": {map[string]string{"build.gradle": "test { useJUnitPlatform() }\n", test: ""}, "",
			[]string{"a Gradle project (build.gradle) that needs a newer Gradle"}, ""},
		"a newer one of modules": {map[string]string{"build.gradle": "",
			"sub/build.gradle": "plugins { id(\"x.y\") version \"1\" }\n", "sub/" + test: ""}, "",
			[]string{"a Gradle project (build.gradle) that needs a newer Gradle"}, ""},
		"Kotlin": {map[string]string{"build.gradle.kts": "", test: ""}, "",
			[]string{"a Gradle project (build.gradle.kts) that needs"}, ""},
		"Gradle beside Maven": {map[string]string{"pom.xml": "<project/>", "build.gradle": "", test: ""}, "mvn ", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := ecosystemtest.Tree(c.files)
			found := Ecosystem{}.Detect(tree, nil)
			got := ""
			if len(found) == 1 {
				got = found[0].Test.Command
			}
			if len(found) > 1 || (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%+v", found)
			}
			notes := tree.Notes()
			if len(notes) != len(c.notes) ||
				slices.ContainsFunc(c.notes, func(n string) bool { return !strings.HasPrefix(notes[0], n) }) {
				t.Errorf("notes %q", notes)
			}
			if needs := strings.Join((Ecosystem{}).Needs(tree, func(string) bool { return true }, []string{got}),
				" "); needs != c.needs {
				t.Errorf("needs %q", needs)
			}
		})
	}
}

// Which folders are projects of their own: a project builds its modules, and Gradle's
// manifests count where Maven has none.
func TestFoldersOfProjects(t *testing.T) {
	const modules = "<project><modules><module>a</module><module>b</module></modules></project>"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // folders with their builder
	}{
		"modules": {map[string]string{"pom.xml": modules, "a/pom.xml": "<project/>", "a/" + test: "",
			"b/pom.xml": "<project/>", "b/" + test: ""}, ". mvn"},
		"side by side": {map[string]string{"a/pom.xml": "<project/>", "a/" + test: "", "b/pom.xml": "<project/>",
			"b/" + test: ""}, "a mvn, b mvn"},
		"one without tests": {map[string]string{"a/pom.xml": "<project/>", "a/src/main/java/A.java": "",
			"b/pom.xml": "<project/>", "b/" + test: ""}, "b mvn"},
		"no module of the upper": {map[string]string{"pom.xml": "<project/>", test: "", "tools/pom.xml": "<project/>",
			"tools/" + test: ""}, ". mvn, tools mvn"},
		"none of the upper's own": {map[string]string{"pom.xml": "<project/>", "tools/pom.xml": "<project/>",
			"tools/" + test: ""}, "tools mvn"},
		"of both builders": {map[string]string{"a/pom.xml": "<project/>", "a/" + test: "", "b/build.gradle": "",
			"b/" + test: ""}, "a mvn, b gradle"},
		"Gradle below Maven": {map[string]string{"pom.xml": "<project/>", test: "", "b/build.gradle": "",
			"b/" + test: ""}, ". mvn"},
		"Gradle's modules":       {map[string]string{"build.gradle": "", "a/build.gradle": "", "a/" + test: ""}, ". gradle"},
		"what Maven cannot read": {map[string]string{"pom.xml": "<project", test: ""}, ". mvn"},
		"names that are no test": {map[string]string{"pom.xml": "<project/>", "src/test/java/Helper.java": "",
			"src/test/resources/ATest.java": ""}, ""},
		"other names of tests": {map[string]string{"pom.xml": "<project/>", "src/test/java/x/TestA.java": ""}, ". mvn"},
		"a copy of another": {map[string]string{"pom.xml": "<project/>", test: "", "vendor/x/pom.xml": "<project/>",
			"vendor/x/" + test: ""}, ". mvn"},
	} {
		var got []string
		for _, p := range (Ecosystem{}).Detect(ecosystemtest.Tree(c.files), nil) {
			builder := "mvn"
			if strings.Contains(p.Test.Command, "gradle --offline") {
				builder = "gradle"
			}
			got = append(got, cmp.Or(p.Dir, ".")+" "+builder)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %q, want %q", name, s, c.want)
		}
	}
}

// A check whose packages cannot be had did not run, and says how they can be.
func TestPackagesThatAreNotThere(t *testing.T) {
	for text, want := range map[string]string{
		"[ERROR] Failed to execute goal on project calc: Could not resolve dependencies for project x:calc:jar:1: Cannot " +
			"access central (https://x) in offline mode and the artifact com.example:nope:jar:1 has not been downloaded from " +
			"it before.\n": "go-offline",
		"* What went wrong:\n> Could not resolve all files for configuration ':compileClasspath'.\n": "flatDir",
		"[ERROR] Tests run: 1, Failures: 1\n":                                                        "",
	} {
		explained := Ecosystem{}.ExplainOutput(text)
		if (explained == "") != (want == "") || !strings.Contains(explained, want) ||
			(Ecosystem{}).CannotStart("mvn -o test", 1, text) != (want != "") || (Ecosystem{}).CannotStart("make", 1, text) {
			t.Errorf("%q: %q", text, explained)
		}
	}
}

// A failing test is one of the framework that the module has.
func TestCanaryText(t *testing.T) {
	for sample, want := range map[string]string{
		"import org.junit.jupiter.api.Test;":  "@org.junit.jupiter.api.Test public void",
		"import org.junit.Test;":              "@org.junit.Test public void",
		"import junit.framework.TestCase;":    "extends junit.framework.TestCase",
		"import org.testng.annotations.Test;": "@org.testng.annotations.Test public",
	} {
		if got := testText(sample, "w"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", sample, got)
		}
	}
}

// Manifests are read as often as there are modules, and not for each package that one asks for.
func TestManifestsOfModulesAreReadOnce(t *testing.T) {
	pom := "<project><dependencies>"
	for i := range 300 {
		pom += fmt.Sprintf("<dependency><groupId>g%d</groupId><artifactId>m</artifactId></dependency>", i)
	}
	files := []ecosystem.File{{Path: "pom.xml"}}
	for i := range 100 {
		files = append(files, ecosystem.File{Path: fmt.Sprintf("d%d/m/pom.xml", i)})
	}
	reads := 0
	tree := ecosystem.NewTree(files, func(wanted []ecosystem.File, each func(ecosystem.File, []byte) error) error {
		reads++
		return each(wanted[0], []byte(pom+"</dependencies></project>"))
	})
	if notePackages(tree, ""); reads > 300 {
		t.Errorf("%d manifests were read of %d", reads, len(files))
	}
}
