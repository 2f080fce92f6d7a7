package gitops

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"company/internal/lib/lazyregexp"
)

// maxName limits the length of a file's name, in bytes: NAME_MAX of Linux.
const maxName = 255

// badName returns why a new name in a tree is refused, or "". Names that the base already has are not checked.
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
		// Cc: newlines, escapes. Cf: bidirectional and zero-width characters, which can also hide a .git.
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

// RefusePath returns why a new path is not allowed in a tree, or "".
func RefusePath(path string) string {
	for part := range strings.SplitSeq(path, "/") {
		if reason := badName(part, false); reason != "" {
			return reason
		}
	}
	return ""
}

// looksLike returns the name that Windows and macOS would read: without streams and trailing dots and blanks, in one
// case and one normal form. HFS also ignores invisible characters; badName refuses those for new names.
func looksLike(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return strings.ToLower(norm.NFKC.String(strings.TrimRight(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name), ". ")))
}

// badLink returns why a symlink is refused, or "". Its folder is depth levels below the root of the tree. Only
// leading ".." are followed, because one after a name could pass through another link and end anywhere.
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

// sameName finds names that are the same to file systems that fold case or normal forms. It is not safe for
// concurrent use.
type sameName struct{ fold cases.Caser }

func newSameName() *sameName { return &sameName{fold: cases.Fold()} }

// FoldName returns the same form for names that are the same to such file systems. It also folds whole paths.
func FoldName(name string) string { return newSameName().foldedKey(name) }

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
