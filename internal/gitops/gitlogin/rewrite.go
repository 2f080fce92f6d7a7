package gitlogin

import "strings"

// Rewrite returns an address rewritten by url.<base>.insteadOf: the longest matching prefix is replaced, once. For a
// push, pushInsteadOf takes precedence, as in git.
func (s *Settings) Rewrite(address string, push bool) string {
	if push {
		if to, ok := s.replaceStart(address, "pushinsteadof"); ok {
			return to
		}
	}
	to, _ := s.replaceStart(address, "insteadof")
	return to
}

// replaceStart replaces the longest prefix of an address that a setting with this name matches. It reports whether
// one matched.
func (s *Settings) replaceStart(address, name string) (string, bool) {
	base, longest := "", ""
	for _, kv := range s.ofSection("url") {
		_, sub, variable := splitKey(kv[0])
		if variable == name && strings.HasPrefix(address, kv[1]) && len(kv[1]) > len(longest) {
			base, longest = sub, kv[1]
		}
	}
	if longest == "" {
		return address, false
	}
	return base + address[len(longest):], true
}
