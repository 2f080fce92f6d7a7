package gitlogin

import (
	"strings"

	"company/internal/gitops/gitexec"
)

// Rewrite returns an address rewritten by url.<base>.insteadOf: the longest matching prefix is replaced, once. For a
// push, pushInsteadOf takes precedence, as in git.
func (s *Settings) Rewrite(address string, push bool) string {
	if push {
		if to, key := Rewrite(s.all, address, "pushinsteadof"); key != "" {
			return to
		}
	}
	to, _ := Rewrite(s.all, address, "insteadof")
	return to
}

// Rewrite replaces the longest prefix of an address that a setting url.<base>.<name> matches. It returns the key of
// that setting, or "" if none matched.
func Rewrite(settings []gitexec.Setting, address, name string) (to, key string) {
	base, longest := "", ""
	for _, kv := range settings {
		section, sub, variable := splitKey(kv[0])
		if section == "url" && variable == name && strings.HasPrefix(address, kv[1]) && len(kv[1]) > len(longest) {
			base = sub
			longest = kv[1]
			key = kv[0]
		}
	}
	if longest == "" {
		return address, ""
	}
	return base + address[len(longest):], key
}
