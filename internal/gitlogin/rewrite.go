package gitlogin

import "strings"

// Rewrite is an address as url.<base>.insteadOf has it: the longest beginning that
// fits is replaced, once. For a push pushInsteadOf comes first, as in git.
func (s *Settings) Rewrite(address string, push bool) string {
	if push {
		if to, ok := s.replaceStart(address, "pushinsteadof"); ok {
			return to
		}
	}
	to, _ := s.replaceStart(address, "insteadof")
	return to
}

// replaceStart replaces the beginning of an address by the settings of one name.
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
