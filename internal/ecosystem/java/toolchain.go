package java

import (
	"maps"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

var artifactRE = lazyregexp.New(`^[A-Za-z0-9_.-]{1,100}:[A-Za-z0-9_.-]{1,100}$`)

// ownPackages lists the packages of the toolchain. They include the plugins of Maven's phases and JUnit.
var ownPackages = []string{"default-jdk-headless", "junit4", "junit5", "libmaven-compiler-plugin-java",
	"libmaven-jar-plugin-java", "libmaven-resources-plugin-java", "libsurefire-java", "maven"}

// ownArtifacts lists the libraries in those packages.
var ownArtifacts = []string{"junit:junit", "org.hamcrest:hamcrest", "org.hamcrest:hamcrest-core",
	"org.junit.jupiter:junit-jupiter", "org.junit.jupiter:junit-jupiter-api", "org.junit.jupiter:junit-jupiter-engine",
	"org.junit.jupiter:junit-jupiter-params", "org.junit.vintage:junit-vintage-engine", "org.junit:junit-bom"}

// debianArtifacts maps other libraries to Debian packages.
var debianArtifacts = map[string]string{
	"ch.qos.logback:logback-classic": "liblogback-java", "ch.qos.logback:logback-core": "liblogback-java",
	"com.fasterxml.jackson.core:jackson-annotations": "libjackson2-annotations-java",
	"com.fasterxml.jackson.core:jackson-core":        "libjackson2-core-java",
	"com.fasterxml.jackson.core:jackson-databind":    "libjackson2-databind-java",
	"com.google.code.findbugs:jsr305":                "libjsr305-java",
	"com.google.code.gson:gson":                      "libgoogle-gson-java", "com.google.guava:guava": "libguava-java",
	"commons-cli:commons-cli": "libcommons-cli-java", "commons-codec:commons-codec": "libcommons-codec-java",
	"commons-io:commons-io":                   "libcommons-io-java",
	"org.apache.commons:commons-collections4": "libcommons-collections4-java",
	"org.apache.commons:commons-lang3":        "libcommons-lang3-java",
	"org.apache.commons:commons-text":         "libcommons-text-java", "org.assertj:assertj-core": "libassertj-core-java",
	"org.jsoup:jsoup": "libjsoup-java", "org.mockito:mockito-core": "libmockito-java",
	"org.slf4j:slf4j-api": "libslf4j-java", "org.slf4j:slf4j-simple": "libslf4j-java", "org.testng:testng": "testng",
}

// debianPackage returns the Debian package of a library, or "" if it is unknown.
func debianPackage(name string) string {
	if slices.Contains(ownArtifacts, name) {
		return "maven"
	}
	return debianArtifacts[name]
}

// jarPrefix is the prefix of toolchains that are a single library package.
const jarPrefix = "jar-"

// Toolchains returns Debian's Java with Maven, Gradle, and one toolchain for each library package.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	out := []ecosystem.Toolchain{{Name: e.Name(), Title: "Java", Contents: "a JDK, Maven and JUnit", Version: "17",
		Packages: ownPackages, WishFiles: []string{".java-version"}, Wish: readWish}}
	out = append(
		out, ecosystem.Toolchain{Name: gradleToolchain, Title: "Gradle", Contents: "Debian's Gradle",
			Packages: []string{"gradle"}})
	for _, name := range slices.Compact(slices.Sorted(maps.Values(debianArtifacts))) {
		out = append(
			out, ecosystem.Toolchain{Name: jarPrefix + name, Title: name, Contents: "the library " + name,
				Packages: []string{name}})
	}
	return out
}

// Needs returns the Debian libraries that the projects of a tree use, and Gradle if a command runs it.
func (e Ecosystem) Needs(tree *ecosystem.Tree, need func(string) bool, commands []string) (out []string) {
	if !need(e.Name()) {
		return nil
	}
	if slices.ContainsFunc(commands, func(c string) bool { return strings.Contains(c, "gradle ") }) {
		out = append(out, gradleToolchain)
	}
	if hasOwnRepository(tree, "") {
		return out
	}
	for _, name := range wantedArtifacts(tree, "") {
		if p := debianArtifacts[name]; p != "" {
			out = append(out, jarPrefix+p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var javaVersion = lazyregexp.New(`^(?:1\.)?([0-9]+)`)

// readWish reads a version, of which only the major number counts.
func readWish(text, has string) (wants, hasText string) {
	if m := javaVersion.FindStringSubmatch(text); m != nil && m[1] != has {
		return m[1], has
	}
	return "", ""
}
