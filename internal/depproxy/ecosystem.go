package depproxy

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"company/internal/company"
)

// The ecosystems, as they are named in paths, tools and records.
const (
	Go     = "go"
	NPM    = "npm"
	PyPI   = "pypi"
	Crates = "crates"
)

// Ecosystems lists them.
func Ecosystems() []string { return []string{Go, NPM, PyPI, Crates} }

// The grammars are the registries' own, less what they only keep for old
// names: a name becomes part of a URL, a file and a command.
var (
	npmPart     = `[A-Za-z0-9~][A-Za-z0-9._~-]{0,127}` // old names have capitals
	npmNameRE   = regexp.MustCompile(`^(@` + npmPart + `/)?` + npmPart + `$`)
	pypiNameRE  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$`)
	crateRE     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	semverRE    = regexp.MustCompile(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$`)
	pep440RE    = regexp.MustCompile(`^([0-9]{1,9}!)?[0-9]{1,9}(\.[0-9]{1,9}){0,7}((a|b|rc)[0-9]{1,9})?(\.post[0-9]{1,9})?(\.dev[0-9]{1,9})?(\+[a-z0-9.]{1,64})?$`)
	separatorRE = regexp.MustCompile(`[-_.]+`)
)

// CheckName holds a name (and a version, where there is one) against the grammar of
// its ecosystem. It asks nobody. The error is E_INVALID, for an agent to read.
func CheckName(d company.Dependency) error {
	bad := func(what, why string) *company.Error {
		return company.E(company.EInvalid, fmt.Sprintf("%.200q is not %s", what, why))
	}
	switch d.Ecosystem {
	case Go:
		if err := module.CheckPath(d.Name); err != nil || len(d.Name) > 200 {
			return bad(d.Name, "the path of a Go module").Fix("name the module, not a package or a URL: example.com/owner/name")
		}
		if d.Version != "" && (!semver.IsValid(d.Version) || module.CanonicalVersion(d.Version) != d.Version || module.Check(d.Name, d.Version) != nil) {
			return bad(d.Version, "a version of that Go module").Fix("write it in full, as v1.2.3, or leave it out for the newest")
		}
	case NPM:
		if !npmNameRE.MatchString(d.Name) || strings.Contains(d.Name, "..") || len(d.Name) > 214 || d.Name == "node_modules" || d.Name == "favicon.ico" {
			return bad(d.Name, "the name of an npm package")
		}
	case PyPI:
		if !pypiNameRE.MatchString(d.Name) {
			return bad(d.Name, "the name of a Python package")
		}
		if d.Version != "" && !pep440RE.MatchString(d.Version) {
			return bad(d.Version, "a version of a Python package").Fix("write it as 1.2.3, or leave it out for the newest")
		}
	case Crates:
		if !crateRE.MatchString(d.Name) {
			return bad(d.Name, "the name of a crate")
		}
	default:
		return bad(d.Ecosystem, "an ecosystem that is served").Fix("there are: " + strings.Join(Ecosystems(), ", "))
	}
	if (d.Ecosystem == NPM || d.Ecosystem == Crates) && d.Version != "" && !semverRE.MatchString(d.Version) {
		return bad(d.Version, "an exact version").Fix("write it as 1.2.3, or leave it out for the newest")
	}
	return nil
}

// canonicalName is the form in which two spellings of one name are equal.
func canonicalName(ecosystem, name string) string {
	switch ecosystem {
	case PyPI:
		return strings.ToLower(separatorRE.ReplaceAllString(name, "-"))
	case Crates:
		return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	}
	return name
}
