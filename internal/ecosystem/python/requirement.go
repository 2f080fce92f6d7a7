package python

import (
	"strings"

	"company/internal/lazyregexp"
)

// requirement is a line of PEP 508, taken apart.
type requirement struct {
	name   string // in its canonical form
	extras []string
	spec   string // of versions; empty: any
	marker string
	direct bool // it names an address or a folder
	loose  bool // no lock file or list says it: no registry that is away holds the image back for it
	line   string
}

var requirementPartsRE = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([A-Za-z0-9._,\s-]*)\])?\s*(.*)$`)

// parseRequirement reads a line; not ok: it names no package.
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
		// An address may hold a semicolon; a marker stands behind a space.
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

// translateConstraint makes a specifier of PEP 440 out of one of Poetry's; empty,
// any version, where there is none.
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

// nextVersion is the first version that a caret excludes (the first part that is
// not zero goes up), or a tilde (the second one).
func nextVersion(version string, caret bool) string {
	parts := strings.Split(version, ".")
	at := min(1, len(parts)-1)
	if caret {
		for at = 0; at < len(parts)-1 && strings.Trim(parts[at], "0") == ""; at++ {
		}
	}
	parts = parts[:at+1]
	parts[at] = incrementNumber(parts[at])
	return strings.Join(parts, ".")
}

// incrementNumber adds one to a number of any length.
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
