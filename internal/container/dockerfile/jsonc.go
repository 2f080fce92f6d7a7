package dockerfile

// blankComments converts JSON with comments to JSON. It replaces comments, and commas before a closing
// bracket, with blanks, so that offsets and lines do not change.
func blankComments(text []byte) []byte {
	out := append([]byte(nil), text...)
	comma := -1 // offset of a comma that no value follows yet
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			i = blankComment(out, i)
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
	}
	return out
}

// blankComment replaces the comment at an offset with blanks, and returns the offset of its last byte.
func blankComment(out []byte, from int) int {
	block := out[from+1] == '*'
	out[from], out[from+1] = ' ', ' '
	for i := from + 2; i < len(out); i++ {
		switch {
		case !block && out[i] == '\n':
			return i
		case block && out[i] == '*' && i+1 < len(out) && out[i+1] == '/':
			out[i], out[i+1] = ' ', ' '
			return i + 1
		case out[i] != '\n':
			out[i] = ' '
		}
	}
	return len(out)
}
