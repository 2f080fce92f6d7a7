package python

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	pep440 "github.com/aquasecurity/go-pep440-version"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/toml"
	"company/internal/lib/lazyregexp"
)

var (
	nameRE = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$`)
	// pep440RE allows numbers of up to 18 digits, because a version may contain a time in seconds.
	pep440RE = lazyregexp.New(`^([0-9]{1,9}!)?[0-9]{1,18}(\.[0-9]{1,18}){0,7}` +
		`((a|b|rc)[0-9]{1,18})?(\.post[0-9]{1,18})?(\.dev[0-9]{1,18})?(\+[a-z0-9.]{1,64})?$`)
)

// Registry returns PyPI. OpenLists is set, because requirements lists do not include dependencies of
// packages.
func (Ecosystem) Registry() ecosystem.Registry {
	return ecosystem.Registry{Name: ecosystem.PyPI, CheckName: checkName, Canonical: canonicalName,
		CanonicalVersion: canonicalVersion, OpenLists: true}
}

func checkName(name, version string) error {
	if !nameRE.MatchString(name) {
		return ecosystem.NameError(name, "the name of a Python package")
	}
	if version != "" && !pep440RE.MatchString(version) {
		return ecosystem.NameError(version, "a version of a Python package").
			Fix("write it as 1.2.3, or leave it out for the newest")
	}
	return nil
}

// canonicalName returns the normalized form of a name, in which different spellings are equal (PEP 503). It
// is called often: for each file in a list, and for each part of a file's name that may be a package's.
func canonicalName(name string) string {
	var out strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c != '-' && c != '_' && c != '.':
			out.WriteByte(c)
		case i == 0 || !strings.ContainsRune("-_.", rune(name[i-1])):
			out.WriteByte('-')
		}
	}
	return strings.ToLower(out.String())
}

// releaseRE matches a version whose release ends in zeros, which have no meaning.
var releaseRE = lazyregexp.New(`^((?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*?)(?:\.0)+([^.0-9].*|\.(?:post|dev).*)?$`)

// maxVersion limits the bytes of a version that is parsed. A longer text is not normalized.
const maxVersion = 200

// canonicalVersion returns the normalized form of a version, in which different spellings are equal (PEP
// 440): 1.0RC1 and 1.0.0-rc.1 become 1rc1.
func canonicalVersion(version string) string {
	if len(version) > maxVersion || strings.TrimSpace(version) != version {
		return version
	}
	v, err := pep440.Parse(version)
	if err != nil {
		return version
	}
	public, local, isLocal := strings.Cut(v.String(), "+")
	public = releaseRE.ReplaceAllString(public, "$1$2")
	if isLocal {
		public += "+" + strings.NewReplacer("-", ".", "_", ".").Replace(local)
	}
	return public
}

// AddCommand returns the pip command that adds a dependency, or "" for other registries.
func (Ecosystem) AddCommand(dependency company.Dependency) string {
	if dependency.Ecosystem != ecosystem.PyPI {
		return ""
	}
	return "pip install " + dependency.Name + "==" + dependency.Version +
		" (and write it into the project's own list of requirements)"
}

// IsLockFile reports whether a file names packages. Python has no lock file that all tools use.
func (Ecosystem) IsLockFile(file string) bool {
	name := findLockName(file)
	isRead := slices.ContainsFunc(lockReaders, func(r lockReader) bool { return r.name == name })
	return isRead || slices.Contains(projectFiles, name) || toolFiles[name] != "" || isRequirements(file)
}

// ParseLock lists the packages that a file names.
func (Ecosystem) ParseLock(file string, text []byte) ([]company.Dependency, error) {
	switch name := findLockName(file); name {
	case "poetry.lock", "uv.lock", "pdm.lock", "pylock.toml":
		return parseTOMLLock(file, text)
	case "Pipfile.lock":
		return parsePipfileLock(text)
	case "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "Pipfile", "hatch.toml",
		"tox.toml", "uv.toml":
		lines, _, err := listManifestLines(name, text)
		return parseRequirements([]byte(strings.Join(lines, "\n"))), err
	}
	if isProse(file, text) {
		return nil, nil
	}
	return parseRequirements(text), nil
}

// parseTOMLLock parses lock files that consist of [[package]] tables.
func parseTOMLLock(file string, text []byte) (out []company.Dependency, err error) {
	form := lockForms[findLockName(file)]
	var lock struct {
		Package  []map[string]any
		Packages []map[string]any // pylock.toml
	}
	if err := toml.DecodeOneSpelling(text, &lock); err != nil {
		return nil, err
	}
	for _, p := range append(lock.Package, lock.Packages...) {
		if !form.isElsewhere(p) {
			name, _ := p["name"].(string)
			version, _ := p["version"].(string)
			out = append(out, company.Dependency{Ecosystem: ecosystem.PyPI, Name: name, Version: version})
		}
	}
	return out, nil
}

// lineEnds replaces the line ends that pip accepts by \n. These are the ones of Python's splitlines.
var lineEnds = strings.NewReplacer(
	"\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\x1c", "\n", "\x1d", "\n", "\x1e", "\n", "\u0085", "\n", "\u2028",
	"\n", "\u2029", "\n")

// remarkRE matches a comment and the white space before it, as Python defines it.
var remarkRE = lazyregexp.New(`(^|[\s\v\p{Z}\x{85}]+)#.*$`)

// joinLines returns the lines of a requirements list without comments, joined as pip does it. A line that
// ends in a backslash continues in the next one without a blank between. A comment cannot be continued, and
// it ends the line before it.
func joinLines(text string) (out []string) {
	var begun strings.Builder
	end := func(line string) {
		begun.WriteString(line)
		out = append(out, strings.TrimSpace(remarkRE.ReplaceAllString(begun.String(), "")))
		begun.Reset()
	}
	for line := range strings.SplitSeq(lineEnds.Replace(strings.TrimPrefix(text, "\ufeff")), "\n") {
		isRemark := strings.HasPrefix(strings.TrimSpace(line), "#")
		if strings.HasSuffix(line, "\\") && !isRemark {
			begun.WriteString(strings.Trim(line, "\\"))
			continue
		}
		if isRemark {
			line = " " + line
		}
		end(line)
	}
	end("")
	return out
}

// optionsRE matches the start of a requirement's options in a list. pip ends the requirement there and
// splits the rest like a shell.
var optionsRE = lazyregexp.New(`[\s\v\p{Z}\x{85}]-`)

// splitOptions splits a line of a list into the requirement and its options. A line with only options has
// no requirement.
func splitOptions(line string) (requirement, options string) {
	if strings.HasPrefix(line, "-") {
		return "", line
	}
	at := optionsRE.FindStringIndex(line)
	if at == nil {
		return line, ""
	}
	return strings.TrimSpace(line[:at[0]]), line[at[1]-1:]
}

// codingRE matches the encoding of a list in a comment. pip uses the first match in each of the first two
// lines.
var codingRE = lazyregexp.New(`coding[:=][\s\v]*([-\w.]+)`)

// plainCodings lists the names of UTF-8 and of ASCII, which is a subset of UTF-8.
var plainCodings = []string{"utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii"}

// checkRequirements returns an error for a requirements list that pip may decode differently, or that has
// control characters which pip ignores.
func checkRequirements(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("it is not UTF-8: save it as UTF-8")
	}
	for i, line := range strings.SplitN(string(text), "\n", 3) {
		m := codingRE.FindStringSubmatch(line)
		if i < 2 && strings.HasPrefix(line, "#") && m != nil && !slices.Contains(plainCodings, strings.ToLower(m[1])) {
			return fmt.Errorf("line %d declares %s: save the file as UTF-8, and remove the line", i+1, m[1])
		}
	}
	for i, line := range strings.Split(string(text), "\n") {
		isControl := func(c rune) bool { return c < ' ' && c != '\t' && c != '\r' && c != '\f' || c == 0x7f }
		if index := strings.IndexFunc(line, isControl); index >= 0 {
			return fmt.Errorf("line %d has the control character %q: remove it", i+1, line[index])
		}
	}
	return nil
}

var pinnedRE = lazyregexp.New(`^\(?\s*===?\s*([^\s;,*)]+)\s*\)?\s*(;.*)?$`)

// parseRequirements parses the lines of pip's own lists. A pinned requirement gives that version, and any
// other gives no version. Addresses, folders and options are skipped.
func parseRequirements(text []byte) (out []company.Dependency) {
	for _, line := range joinLines(string(text)) {
		line, _ = splitOptions(line)
		if line == "" {
			continue
		}
		if head := line[:strings.IndexAny(line+" ", " =<>!~;@[:/")]; strings.Contains(head, "${") {
			// pip replaces it by an environment variable. No registry has such a name.
			out = append(out, company.Dependency{Ecosystem: ecosystem.PyPI, Name: head})
			continue
		}
		name, rest, ok := ecosystem.SplitRequirement(line)
		if !ok || strings.HasPrefix(rest, "@") || strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, ":") ||
			strings.HasPrefix(rest, "+") {
			continue
		}
		dependency := company.Dependency{Ecosystem: ecosystem.PyPI, Name: name}
		if v := pinnedRE.FindStringSubmatch(rest); v != nil && !strings.ContainsAny(v[1], "{}%$") { // not computed
			dependency.Version = strings.TrimPrefix(v[1], "v") // pip ignores the v
		}
		out = append(out, dependency)
	}
	return out
}
