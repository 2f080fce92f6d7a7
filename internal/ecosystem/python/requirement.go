package python

import (
	"strings"

	"company/internal/lib/lazyregexp"
)

// requirement is a parsed requirement by PEP 508.
type requirement struct {
	name   string // canonical name
	extras []string
	spec   string // version specifier; empty means any version
	marker string
	direct bool // it refers to an address or a folder
	loose  bool // it is in no lock file or list, so the image is also made if its registry is unreachable
	line   string
}

var requirementPartsRE = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([A-Za-z0-9._,\s-]*)\])?\s*(.*)$`)

// parseRequirement parses a line. It returns false if the line names no package.
func parseRequirement(line string) (requirement, bool) {
	line = strings.Join(strings.Fields(line), " ")
	front, marker, _ := strings.Cut(line, ";")
	m := requirementPartsRE.FindStringSubmatch(strings.TrimSpace(front))
	if m == nil || checkName(m[1], "") != nil {
		return requirement{}, false
	}
	r := requirement{name: canonicalName(m[1]), marker: strings.TrimSpace(marker), line: line}
	for e := range strings.FieldsFuncSeq(m[2], func(c rune) bool { return c == ',' || c == ' ' }) {
		r.extras = append(r.extras, canonicalName(e))
	}
	r.spec = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(m[3]), "("), ")")
	if strings.HasPrefix(r.spec, "@") {
		r.direct, r.spec = true, ""
		// An address may contain a semicolon, so a marker must follow a space.
		if _, marker, ok := strings.Cut(line, " ;"); ok {
			r.marker = strings.TrimSpace(marker)
		}
		return r, true
	}
	return r, registryLineRE.MatchString(line)
}

var (
	caretRE = lazyregexp.New(`^\^\s*v?([0-9]+(?:\.[0-9]+)*)\S*$`)
	tildeRE = lazyregexp.New(`^~\s*v?([0-9]+(?:\.[0-9]+)*)\S*$`)
	plainRE = lazyregexp.New(`^v?[0-9]\S*$`)
)

// translateConstraint converts a version constraint of Poetry to a PEP 440 specifier. It returns an empty
// string, which means any version, if that is impossible.
func translateConstraint(text string) string {
	var out []string
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "||", "|"), ",") {
		part = strings.TrimSpace(part)
		switch m, t := caretRE.FindStringSubmatch(part), tildeRE.FindStringSubmatch(part); {
		case strings.Contains(part, "|"):
			return ""
		case part == "" || part == "*":
		case m != nil:
			out = append(out, ">="+strings.TrimSpace(part[1:]), "<"+nextVersion(m[1], true))
		case t != nil && !strings.HasPrefix(part, "~="):
			out = append(out, ">="+strings.TrimSpace(part[1:]), "<"+nextVersion(t[1], false))
		case plainRE.MatchString(part):
			out = append(out, "=="+part)
		default:
			out = append(out, strings.ReplaceAll(part, " ", ""))
		}
	}
	spec := strings.Join(out, ",")
	if !registryLineRE.MatchString("x" + spec) {
		return ""
	}
	return spec
}

// nextVersion returns the first version that a caret or tilde constraint excludes. For a caret it
// increments the first part that is not zero, and for a tilde the second part.
func nextVersion(version string, caret bool) string {
	parts := strings.Split(version, ".")
	index := min(1, len(parts)-1)
	if caret {
		for index = 0; index < len(parts)-1 && strings.Trim(parts[index], "0") == ""; index++ {
		}
	}
	parts = parts[:index+1]
	parts[index] = incrementNumber(parts[index])
	return strings.Join(parts, ".")
}

// incrementNumber adds one to a decimal number of any length.
func incrementNumber(number string) string {
	digits := []byte(number)
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] != '9' {
			digits[i]++
			return string(digits)
		}
		digits[i] = '0'
	}
	return "1" + string(digits)
}
