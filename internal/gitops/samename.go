package gitops

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"company/internal/lazyregexp"
)

// maxName is how long a file's name may be, in bytes: NAME_MAX of Linux.
const maxName = 255

// badName says why a new name in a tree is refused, or "". Names that the
// base already has are not asked about.
func badName(name string, symlink bool) string {
	switch {
	case name == "" || name == "." || name == "..":
		return "is not a file name"
	case len(name) > maxName:
		return "has a name longer than 255 bytes, which no file system takes"
	case strings.ContainsAny(name, "/\\"):
		return "has a slash or backslash in a name"
	case !utf8.ValidString(name):
		return "has a name that is not UTF-8"
	}
	for _, r := range name {
		// Cc: newlines, escapes. Cf: bidirectional and zero-width
		// characters, which also hide a .git from the eye.
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return "has a control or invisible character in a name"
		}
	}
	look := looksLike(name)
	if look == ".git" || look == "git~1" {
		return "looks like .git to some file systems"
	}
	if look == ".company" || shortCompanyRE.MatchString(look) {
		return "looks like the folder of company's own files, or like a company.yaml, to some file systems"
	}
	if symlink {
		switch look {
		case ".gitmodules", ".gitattributes", ".gitignore", ".mailmap":
			return "is a special file of git as a symbolic link"
		}
	}
	return ""
}

// shortCompanyRE matches the short names that Windows may give to .company and to
// company.yaml.
var shortCompanyRE = lazyregexp.New(`^(compan|co[0-9a-f]{4})~[0-9]+(\.yam)?$`)

// RefusePath says why a tree may not get a new path, or "".
func RefusePath(path string) string {
	for part := range strings.SplitSeq(path, "/") {
		if why := badName(part, false); why != "" {
			return why
		}
	}
	return ""
}

// looksLike is what Windows and macOS would take name for: streams, trailing
// dots and blanks off, one case, one normal form. (HFS ignores invisible
// characters too; those are refused on their own for new names.)
func looksLike(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return strings.ToLower(norm.NFKC.String(strings.TrimRight(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name), ". ")))
}

// badLink says why a symlink whose folder is depth levels below the root of
// the tree is refused, or "". Only leading ".." are followed: one after a
// name could pass through another link and end anywhere.
func badLink(target string, depth int) string {
	if target == "" || strings.ContainsAny(target, "\x00\\") {
		return "is a symbolic link to nothing"
	}
	if target[0] == '/' {
		return "is a symbolic link to an absolute path"
	}
	named := false
	for part := range strings.SplitSeq(target, "/") {
		switch {
		case part == "" || part == ".":
		case part == "..":
			if depth--; named || depth < 0 {
				return "is a symbolic link that leaves the tree"
			}
		default:
			named = true
			if l := looksLike(part); l == ".git" || l == "git~1" {
				return "is a symbolic link into .git"
			}
		}
	}
	return ""
}

// sameName finds names that are one name to file systems that fold case or
// normal forms. It belongs to one goroutine.
type sameName struct{ fold cases.Caser }

func newSameName() *sameName { return &sameName{fold: cases.Fold()} }

func (f *sameName) foldedKey(name string) string {
	ascii := true
	for i := 0; i < len(name); i++ {
		ascii = ascii && name[i] < utf8.RuneSelf
	}
	if ascii || !utf8.ValidString(name) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(f.fold.String(norm.NFC.String(name)))
}
