package delivery

import "strings"

// blankSignature takes the body of a signature out of the head of a commit: base64 within the armour of OpenPGP or
// SSH, in a header that git signs with. Its lines stay, empty, so that all others keep their numbers.
//
// Such text is drawn at random, and looks now and then like the secret of a service whose shape is a few
// letters and any others. The key that signs is a part of it, so that each commit of an office would be asked about.
func blankSignature(head string) string {
	var out strings.Builder
	header, within := false, false
	for line := range strings.Lines(head) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ") // a line that goes on has no name
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

// isBase64 reports whether text has characters of base64 alone (RFC 4648, section 4), or is the checksum of OpenPGP's armour.
func isBase64(text string) bool {
	for _, c := range []byte(strings.TrimRight(strings.TrimPrefix(text, "="), "=")) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '+' && c != '/' {
			return false
		}
	}
	return true
}
