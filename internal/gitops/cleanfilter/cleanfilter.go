// Package cleanfilter decides whether the content of a file in git is what the attributes of the file demand. When a
// person commits, git makes it so by clean filters and conversions. The company runs none of them, so what an agent
// writes is stored as it was written. The package reads no repository.
package cleanfilter

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"company/internal/lib/lazyregexp"
)

// Names lists the attributes that Judge reads.
func Names() []string {
	return []string{"filter", "diff", "working-tree-encoding", "text", "eol", "ident"}
}

// Bypass names what a content bypasses: an attribute, such as "filter=git-crypt", or the seal that the file had
// before, such as "seal=sops". It is empty if the content bypasses nothing.
type Bypass string

// Kind is the purpose of what a content bypasses.
type Kind int

const (
	Conversion Kind = iota // git or a harmless filter converts the text
	Storage                // large files are kept outside of git
	Sealing                // the content is sealed
	Unknown                // a filter that may seal the content or take secrets out of it
)

// Kind returns the purpose. A filter has any name that its repository gives it, so one of an unknown name is not taken
// for harmless.
func (b Bypass) Kind() Kind {
	attribute, name, _ := strings.Cut(string(b), "=")
	name = strings.ToLower(name)
	switch {
	case attribute == "seal" || attribute == "diff":
		return Sealing
	case attribute != "filter" || harmless[name]:
		return Conversion
	case storage[name]:
		return Storage
	case sealing.MatchString(name):
		return Sealing
	}
	return Unknown
}

// storage and harmless are the names that tools give to their filters, and others have in many repositories.
var (
	storage = toSet("lfs git-lfs hawser xet annex git-annex media git-media fat git-fat bigstore")

	harmless = toSet("nbstripout nbstrip_full nbstrip strip-notebook-output strip-notebook-outputs " +
		"strip_notebook_output dropoutput_ipynb clean_ipynb jupyternotebook ipynb " +
		"space spaces tabs tabspace indent trim whitespace trailing-whitespace " +
		"keywords rcs-keywords kwexp dater gofmt clang-format prettier black dos2unix eol crlf")
)

func toSet(names string) map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		out[name] = true
	}
	return out
}

// sealing matches names of filters and diff drivers that seal files, or take secrets out of them.
var sealing = lazyregexp.New(
	`crypt|secret|seal|sops|vault|gpg|pgp|cipher|openssl|password|credential|redact|scrub|saniti[sz]e|sshripped|` +
		`(^|[^a-z])age([^a-z]|$)|(^|[^a-z])private([^a-z]|$)`)

// NeedsLeave reports whether a push of the content needs a person's permission, because it may publish what was to be
// sealed.
func (b Bypass) NeedsLeave() bool { return b.Kind() == Sealing || b.Kind() == Unknown }

// Explain says what the content in git is, as the end of a sentence about it.
func (b Bypass) Explain() string {
	attribute, name, _ := strings.Cut(string(b), "=")
	switch attribute {
	case "seal":
		return "it was sealed by " + name + ", and is in plain text now"
	case "diff":
		return "this driver shows sealed files, and nothing shows that the content is sealed"
	case "working-tree-encoding":
		return "git stores such a file as UTF-8, but this content is not UTF-8 and cannot be checked out"
	case "text", "eol":
		return "git stores such a file with LF but this content has CRLF, so every checkout shows it as changed"
	case "ident":
		return "git stores such a file with a bare $Id$"
	}
	switch b.Kind() {
	case Storage:
		return "this filter keeps large files outside of git, and the whole content is in git instead of a pointer"
	case Sealing:
		return "this filter seals files, and nothing shows that the content is sealed"
	case Unknown:
		return "what this filter does is not known: what it would seal or take out is in plain text"
	}
	return "this filter did not run, and the content is as it was written"
}

// Judge returns what a content bypasses, given the values of the attributes in Names as git check-attr prints them.
// old is the content that the file had before, nil if it is new or unknown.
func Judge(attributes map[string]string, old, text []byte) Bypass {
	name, driver := attributes["filter"], attributes["diff"]
	filter := Bypass("filter=" + name)
	seal, oldSeal := sealOf(text), sealOf(old)
	switch {
	case len(text) == 0: // every filter leaves it empty
		return ""
	case isNamed(name) && filter.NeedsLeave() && seal == "":
		return filter
	case oldSeal != "" && seal == "":
		return Bypass("seal=" + oldSeal)
	case isSealDriver(driver) && seal == "":
		return Bypass("diff=" + driver)
	case !isNamed(name):
		return judgeConversion(attributes, old, text)
	case filter.NeedsLeave(), filter.Kind() == Storage && pointer.Match(text):
		return ""
	}
	return filter
}

// judgeConversion returns the conversion by git itself that a content bypasses.
func judgeConversion(attributes map[string]string, old, text []byte) Bypass {
	encoding := attributes["working-tree-encoding"]
	switch {
	case isNamed(encoding) && !utf8.Valid(text):
		return Bypass("working-tree-encoding=" + encoding)
	case convertsLineEnds(attributes) && hasCRLF(text) && !hasCRLF(old):
		if isGiven(attributes["text"]) {
			return "text"
		}
		return Bypass("eol=" + attributes["eol"])
	case attributes["ident"] == "set" && expandedIdent.Match(text) && !expandedIdent.Match(old):
		return "ident"
	}
	return ""
}

// MayMatter reports whether Judge may find a bypass because of these attributes. The seal of an old content needs none.
func MayMatter(attributes map[string]string) bool {
	return isNamed(attributes["filter"]) || isSealDriver(attributes["diff"]) ||
		isNamed(attributes["working-tree-encoding"]) || convertsLineEnds(attributes) || attributes["ident"] == "set"
}

// convertsLineEnds reports whether git stores the file with LF in any case. With text=auto it leaves the line ends of a
// file that is stored with CRLF.
func convertsLineEnds(attributes map[string]string) bool {
	text := attributes["text"]
	return text != "unset" && text != "auto" && (isGiven(text) || isNamed(attributes["eol"]))
}

// isSealDriver reports whether a diff driver shows sealed files, such as ansible-vault and sopsdiffer.
func isSealDriver(name string) bool {
	return isNamed(name) && sealing.MatchString(strings.ToLower(name))
}

func isGiven(value string) bool { return value != "" && value != "unspecified" && value != "unset" }

// isNamed reports whether an attribute has a value of its own. An attribute that is only set names no filter.
func isNamed(value string) bool { return isGiven(value) && value != "set" }

func hasCRLF(text []byte) bool { return bytes.Contains(text, []byte("\r\n")) }

var expandedIdent = lazyregexp.New(`\$Id: [^$\n]*\$`)

// pointer matches what the filters of large files store.
var pointer = lazyregexp.New(`^(?:` +
	`version https://[a-z0-9.-]+/spec/v1\n(?:ext-[^\n]+\n)*oid sha256:[0-9a-f]{64}\nsize [0-9]+\n$|` +
	`/annex/objects/[^\n]+\n?$|` +
	`#\$# git-fat [0-9a-f]{40}|` +
	`# xet version |` +
	`[0-9a-f]{40}\n?$)`) // git-media

// seals are the beginnings of sealed files, with the tool that writes them.
var seals = []struct{ tool, begin string }{
	{"git-crypt", "\x00GITCRYPT\x00"},
	{"openssl", "U2FsdGVkX1"}, // transcrypt
	{"openssl", "Salted__"},
	{"ansible-vault", "$ANSIBLE_VAULT;"},
	{"age", "age-encryption.org/v1"},
	{"age", "-----BEGIN AGE ENCRYPTED FILE-----"},
	{"gpg", "-----BEGIN PGP MESSAGE-----"},
}

// sealOf returns the tool that sealed a content, or "" if none did as far as the content shows.
func sealOf(text []byte) string {
	for _, seal := range seals {
		if bytes.HasPrefix(text, []byte(seal.begin)) {
			return seal.tool
		}
	}
	if bytes.Contains(text, []byte("ENC[AES256_GCM,data:")) {
		return "sops"
	}
	return ""
}

// IsSealed reports whether a content shows that it is sealed.
func IsSealed(text []byte) bool { return sealOf(text) != "" }
