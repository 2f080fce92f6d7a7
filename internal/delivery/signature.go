package delivery

import "strings"

// blankSignature removes the body of a signature from a commit's headers: base64 within OpenPGP or SSH armour, in a
// header that git uses for signatures. Its lines are kept empty, so that the numbers of other lines stay the same.
//
// Such text is random and sometimes looks like a secret whose form is a few letters followed by any others. The
// signer's public key is part of it, so otherwise every commit of an office could cause a question.
func blankSignature(head string) string {
	var out strings.Builder
	header, within := false, false
	for line := range strings.Lines(head) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ") // a continuation line has no name
		if name != "" {
			header, within = name == "gpgsig" || name == "gpgsig-sha256", false
		}
		switch {
		case !header:
		case strings.HasPrefix(text, "-----BEGIN ") && strings.HasSuffix(text, " SIGNATURE-----"):
			within = true
		case strings.HasPrefix(text, "-----END "):
			within = false
		case within && len(text) <= 76 && isBase64(text):
			line = line[len(strings.TrimSuffix(line, "\n")):]
		}
		out.WriteString(line)
	}
	return out.String()
}

// isBase64 reports whether text contains only base64 characters (RFC 4648, section 4) or is the checksum of OpenPGP's
// armour.
func isBase64(text string) bool {
	for _, c := range []byte(strings.TrimRight(strings.TrimPrefix(text, "="), "=")) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '+' && c != '/' {
			return false
		}
	}
	return true
}
