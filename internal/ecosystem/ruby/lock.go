package ruby

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

var (
	_ ecosystem.SourceTeller = Ecosystem{}
	_ ecosystem.FormChecker  = Ecosystem{}
	_ ecosystem.FileDigester = Ecosystem{}
)

// gemKind is the package kind of gems. No gem registry is served.
const gemKind = "gem"

// lockNames lists the names of bundler's lock files: for Gemfile, for another Gemfile in its place, and for
// gems.rb.
var lockNames = []string{"Gemfile*.lock", "*.gemfile.lock", "*.rb.lock", "gems.locked"}

// IsLockFile reports whether a file is a lock file of bundler.
func (Ecosystem) IsLockFile(file string) bool { return ecosystem.HasName(file, lockNames) }

// ParseLock lists the gems that a lock file names.
func (e Ecosystem) ParseLock(file string, text []byte) (out []company.Dependency, _ error) {
	for _, source := range e.ParseSources(file, text) {
		if source.Dependency.Name != "" {
			out = append(out, source.Dependency)
		}
	}
	return out, nil
}

// IsWritten reports whether the file is a lock file of bundler.
func (e Ecosystem) IsWritten(file string) bool { return e.IsLockFile(file) }

// CheckForm returns an error for a lock file with a line that bundler may ignore.
func (Ecosystem) CheckForm(_ string, text []byte) error {
	_, err := readSections(text)
	return err
}

// Heads of the sections of a lock file. sourceHeads begin a source of gems. Sections under plainHeads don't
// name sources.
var (
	sourceHeads = []string{"GIT", "GEM", "PATH", "PLUGIN SOURCE"}
	plainHeads  = []string{"PLATFORMS", "DEPENDENCIES", digestsHead, "RUBY VERSION", "BUNDLED WITH"}
)

const digestsHead = "CHECKSUMS"

// Lines of a section, by their indent. A line of a plain section must not look like an option or a gem. A
// bundler that does not know the section's head would add it to the source above.
var (
	plainRE  = lazyregexp.New(`^ {2,3}[^\s:][^:]*$`)
	digestRE = lazyregexp.New(`^  ([^\s()]+) \(([^\s()]+)\)(?: ([a-z0-9]+=[^\s,]+(?:,[a-z0-9]+=[^\s,]+)*))?$`)
	optionRE = lazyregexp.New(`^  [a-zA-Z]+: .*$`)                  // an option, above the gems
	gemRE    = lazyregexp.New(`^    ([^\s()]+)(?: \(([^()]*)\))?$`) // a gem in a section's specs
	needRE   = lazyregexp.New(`^      [^\s].*$`)                    // a dependency of a gem
)

const specsLine = "  specs:" // bundler creates the source here, from the options above

// section is a part of a lock file: a source and its gems, or a plain section.
type section struct {
	isPlain, hasSpecs bool
	lines             []string // its head and its options
	gems              []company.Dependency
	digests           []ecosystem.FileDigest
}

// isOf reports whether the section has the given head.
func (s *section) isOf(head string) bool { return len(s.lines) > 0 && s.lines[0] == head }

// ParseSources returns the source of each gem in a lock file: all lines of its section, including the
// commit of a repository.
func (Ecosystem) ParseSources(file string, text []byte) (out []ecosystem.Source) {
	sections, _ := readSections(text) // CheckForm reports the error
	for _, section := range sections {
		if section.isPlain {
			continue
		}
		from := ecosystem.Source{Dependency: company.Dependency{Ecosystem: gemKind}, From: section.formatSource(file)}
		if len(section.gems) == 0 {
			out = append(out, from)
		}
		for _, from.Dependency = range section.gems {
			out = append(out, from)
		}
	}
	return out
}

// readSections parses a lock file by the lines that bundler writes. The error names the first line that
// bundler does not write there. Such a line is kept with its section.
func readSections(text []byte) (sections []*section, err error) {
	at := &section{isPlain: true} // a line above the first head is an error
	var odd []string
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		isPlain, isSource := slices.Contains(plainHeads, line), slices.Contains(sourceHeads, line)
		m := gemRE.FindStringSubmatch(line)
		switch {
		case line == "":
		case isPlain, isSource:
			at = &section{isPlain: isPlain, lines: []string{line}}
			sections = append(sections, at)
		case at.isOf(digestsHead) && digestRE.MatchString(line):
			at.addDigests(line)
		case at.isPlain && len(sections) > 0 && !at.isOf(digestsHead) && line != specsLine && plainRE.MatchString(line):
		case !at.isPlain && !at.hasSpecs && line == specsLine:
			at.hasSpecs = true
		case !at.isPlain && !at.hasSpecs && optionRE.MatchString(line):
			at.lines = append(at.lines, line)
		case at.hasSpecs && m != nil:
			at.gems = append(at.gems, company.Dependency{Ecosystem: gemKind, Name: m[1], Version: m[2]})
		case len(at.gems) > 0 && needRE.MatchString(line):
		default:
			at.lines, odd = append(at.lines, line), append(odd, line)
		}
	}
	for _, s := range sections {
		if !s.isPlain && !s.hasSpecs {
			odd = append(odd, s.lines[0])
		}
	}
	if len(odd) > 0 {
		err = fmt.Errorf("bundler never writes the line %.200q there: run bundle lock again", odd[0])
	}
	return sections, err
}

// addDigests adds the digests in a line of the CHECKSUMS section.
func (s *section) addDigests(line string) {
	m := digestRE.FindStringSubmatch(line)
	gem := company.Dependency{Ecosystem: gemKind, Name: m[1], Version: m[2]}
	for sum := range strings.FieldsFuncSeq(m[3], func(c rune) bool { return c == ',' }) {
		s.digests = append(s.digests, ecosystem.FileDigest{Dependency: gem, Sum: sum, Of: ecosystem.OfClient})
	}
}

// ParseFileDigests returns the digests of the gems that come from an index. Bundler does not compare
// digests of other gems.
func (Ecosystem) ParseFileDigests(_ string, text []byte) (out []ecosystem.FileDigest) {
	all, _ := readSections(text) // CheckForm reports the error
	for _, section := range all {
		out = append(out, section.digests...)
		for _, gem := range section.gems {
			if section.isOf("GEM") {
				out = append(out, ecosystem.FileDigest{Dependency: gem, Of: ecosystem.OfClient})
			}
		}
	}
	return out
}

// formatSource returns a section's source as one text. It is empty for rubygems.org and for a folder of the
// tree.
func (s *section) formatSource(file string) string {
	switch {
	case slices.Equal(s.lines, []string{"GEM"}):
		return ""
	case slices.Equal(s.lines, []string{"GEM", "  remote: https://rubygems.org/"}):
		return ""
	case len(s.lines) == 2 && s.lines[0] == "PATH":
		folder, isRemote := strings.CutPrefix(s.lines[1], "  remote: ")
		if isRemote && ecosystem.IsTreeFolder(file, folder) {
			return ""
		}
	}
	return strings.Join(s.lines, " ")
}
