package safetext

import (
	"bytes"
	"strconv"
)

// readEscape takes the next byte of an escape sequence. It returns 0 if the byte belongs to the text after it, else 1.
func (s *Screen) readEscape(next byte) int {
	state := s.state
	s.state = inText
	switch {
	case next == '\n' || next == '\r': // a sequence never spans lines
		return 0
	case next == '\x1b':
		s.state = inEscape
	case state == inString:
		if next != '\a' {
			s.state = inString
		}
	case next < ' ' || next == 0x7f: // not an escape sequence
		return 0
	case state == inSequence && next < '@':
		if len(s.params) == maxParams {
			return 0
		}
		s.state, s.params = inSequence, append(s.params, next)
	case state == inSequence:
		s.runSequence(next)
	case next < '0': // such as "ESC ( B", which selects a character set
		s.state = inEscape
	default:
		s.runEscape(next)
	}
	return 1
}

// runEscape executes a short escape sequence. Unknown ones are left out.
func (s *Screen) runEscape(final byte) {
	switch final {
	case '[':
		s.state, s.params = inSequence, s.params[:0]
	case ']', 'P', 'X', '^', '_':
		s.state = inString
	case '7':
		s.saved = [2]int{s.row, s.cursorColumn()}
	case '8':
		s.moveTo(s.saved[0], s.saved[1])
	case 'D':
		s.moveTo(s.row+1, s.cursorColumn())
	case 'E':
		s.endLine()
	case 'M':
		s.moveTo(s.row-1, s.cursorColumn())
	case 'c':
		s.moveToEnd()
	}
}

// runSequence executes a control sequence. Unknown ones are left out, and so are colors.
func (s *Screen) runSequence(final byte) {
	first, _, _ := bytes.Cut(bytes.TrimLeft(s.params, "?"), []byte(";"))
	given, _ := strconv.Atoi(string(first))
	given = min(given, 1<<10)
	column, count := s.cursorColumn(), max(given, 1)
	switch final {
	case 'A':
		s.moveTo(s.row-count, column)
	case 'B', 'e':
		s.moveTo(s.row+count, column)
	case 'C', 'a':
		s.moveTo(s.row, column+count)
	case 'D':
		s.moveTo(s.row, column-count)
	case 'E':
		s.moveTo(s.row+count, 0)
	case 'F':
		s.moveTo(s.row-count, 0)
	case 'G', '`':
		s.moveTo(s.row, count-1)
	case 'H', 'f', 'd':
		s.moveToEnd()
	case 'J':
		s.eraseBelow(given)
	case 'K':
		s.eraseLine(given, column)
	case 's':
		s.saved = [2]int{s.row, column}
	case 'u':
		s.moveTo(s.saved[0], s.saved[1])
	}
}

// eraseBelow erases the text after the cursor. Lines above it stay, as in the scrollback of a terminal.
func (s *Screen) eraseBelow(what int) {
	switch what {
	case 0:
		s.eraseLine(0, s.cursorColumn())
		s.rows = s.rows[:s.row+1]
	case 2, 3:
		s.moveToEnd()
	}
}

// eraseLine erases a part of the line. The cursor stays at its column.
func (s *Screen) eraseLine(what, column int) {
	row := s.rows[s.row]
	switch end := min(s.col, len(row)); what {
	case 0:
		row = row[:end]
	case 1:
		row = append(bytes.Repeat([]byte(" "), column), row[end:]...)
	case 2:
		row = row[:0]
	}
	s.rows[s.row] = row
	s.moveTo(s.row, column)
}
