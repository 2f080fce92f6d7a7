package cleanfilter

import (
	"strings"
	"testing"
)

// What git stores is judged by the attributes of the file, its new content and its old one.
func TestJudge(t *testing.T) {
	t.Parallel()
	const (
		plain   = "user: me\n"
		crypted = "\x00GITCRYPT\x00\x01\x02"
	)
	lfs := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0a", 32) + "\nsize 12\n"
	for name, c := range map[string]struct {
		attributes string // name=value
		old, text  string
		want       Bypass
		asks       bool
	}{
		"no attribute":               {"", "", plain, "", false},
		"git-crypt":                  {"filter=git-crypt", "", plain, "filter=git-crypt", true},
		"a named key of git-crypt":   {"filter=git-crypt-ops", crypted, plain, "filter=git-crypt-ops", true},
		"sealed by git-crypt":        {"filter=git-crypt", "", crypted, "", false},
		"empty":                      {"filter=git-crypt", crypted, "", "", false},
		"transcrypt":                 {"filter=crypt", "", plain, "filter=crypt", true},
		"sealed by transcrypt":       {"filter=crypt", "", "U2FsdGVkX19CZfq6z9fVIC8B5uHWMBIA\n", "", false},
		"git-agecrypt":               {"filter=git-agecrypt", "", plain, "filter=git-agecrypt", true},
		"sops as a filter":           {"filter=sops", "", plain, "filter=sops", true},
		"one that takes secrets out": {"filter=remove-tokens", "", plain, "filter=remove-tokens", true},
		"one that nobody knows":      {"filter=company-x", "", plain, "filter=company-x", true},
		"in capitals":                {"filter=LFS", "", plain, "filter=LFS", false},
		"lfs":                        {"filter=lfs", lfs, plain, "filter=lfs", false},
		"a pointer of lfs":           {"filter=lfs", "", lfs, "", false},
		"a pointer and more":         {"filter=lfs", "", lfs + "x", "filter=lfs", false},
		"a pointer of annex":         {"filter=annex", "", "/annex/objects/SHA256E-s4--aa.bin\n", "", false},
		"notebooks":                  {"filter=nbstripout", "", "{}\n", "filter=nbstripout", false},
		"set without a name":         {"filter=set", "", plain, "", false},
		"unset":                      {"filter=unset", "", plain, "", false},

		"was sealed by ansible-vault":   {"", "$ANSIBLE_VAULT;1.1;AES256\n33\n", plain, "seal=ansible-vault", true},
		"is still sealed":               {"", "$ANSIBLE_VAULT;1.1;AES256\n33\n", "$ANSIBLE_VAULT;1.1;AES256\n44\n", "", false},
		"was sealed by sops":            {"", "a: ENC[AES256_GCM,data:x]\n", "a: b\n", "seal=sops", true},
		"was sealed and is for lfs now": {"filter=lfs", "-----BEGIN PGP MESSAGE-----\n", plain, "seal=gpg", true},
		"a driver of sealed files":      {"diff=sopsdiffer", "", plain, "diff=sopsdiffer", true},
		"a driver of code":              {"diff=golang", "", plain, "", false},
		"a driver of images":            {"diff=image", "", plain, "", false},

		"an encoding":                 {"working-tree-encoding=UTF-16", "", "\xff\xfea\x00", "working-tree-encoding=UTF-16", false},
		"an encoding, stored right":   {"working-tree-encoding=UTF-16", "", plain, "", false},
		"line ends":                   {"text=set eol=lf", "", "a\r\n", "text", false},
		"line ends by eol":            {"eol=crlf", "", "a\r\n", "eol=crlf", false},
		"line ends, as before":        {"text=set", "b\r\n", "a\r\n", "", false},
		"line ends that are guessed":  {"text=auto", "", "a\r\n", "", false},
		"line ends of a binary":       {"text=unset eol=lf", "", "a\r\n", "", false},
		"line ends, stored right":     {"text=set eol=crlf", "", "a\n", "", false},
		"an ident":                    {"ident=set", "", "$Id: 0a1b $\n", "ident", false},
		"an ident, stored right":      {"ident=set", "", "$Id$\n", "", false},
		"a filter goes before others": {"filter=git-crypt text=set", "", "a\r\n", "filter=git-crypt", true},
	} {
		attributes := map[string]string{}
		for field := range strings.FieldsSeq(c.attributes) {
			key, value, _ := strings.Cut(field, "=")
			attributes[key] = value
		}
		got := Judge(attributes, []byte(c.old), []byte(c.text))
		if got != c.want || got != "" && got.NeedsLeave() != c.asks {
			t.Errorf("%s: %q (asks %v), not %q", name, got, got.NeedsLeave(), c.want)
		}
		if got != "" && got.Explain() == "" {
			t.Errorf("%s: %q is not explained", name, got)
		}
		if got != "" && !strings.HasPrefix(string(got), "seal=") && !MayMatter(attributes) {
			t.Errorf("%s: %q does not matter", name, got)
		}
	}
}
