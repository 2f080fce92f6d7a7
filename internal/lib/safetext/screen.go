package safetext

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// Limits of the lines that later output can change. Older lines, and the start of a longer line, are final.
const (
	screenRows  = 50
	maxRowBytes = 2 << 10
	maxColumn   = 250
	maxParams   = 64 // bytes of the parameters of an escape sequence
	minRepeats  = 5  // fewer repeats of a line are kept as they are
)

// Screen collects the output of a command as a terminal shows it in the end, and keeps its head and tail. Of a progress
// bar it keeps the last frame, and of a line that comes many times in a row the number. Line ends are newlines. Colors
// and titles are left out, and other control characters stay. Its memory is bounded for any output.
//
// It differs from a terminal in two ways. Text replaces the rest of its line, so that a short frame leaves nothing of a
// longer one. Output continues below the last line where a program clears the screen or moves to an absolute position.
type Screen struct {
	maxHead, maxTail int
	head, tail       []byte // tail has up to twice maxTail, so that it is rarely moved
	total            int64  // bytes of the final lines
	above            []byte // the last final line, or a newline if there is none
	repeats          int    // how often it was repeated since

	rows     [][]byte // lines that can still change
	row, col int      // of the cursor; col is an offset in bytes, and may be behind the end of the line
	saved    [2]int   // row and column in cells

	state  screenState
	params []byte
}

// screenState tells what the next byte belongs to.
type screenState int

const (
	inText screenState = iota
	inEscape
	inSequence // a control sequence, after "ESC ["
	inString   // a title, a hyperlink or the like, which is not shown
)

// NewScreen returns a screen that keeps the first maxHead and the last maxTail bytes.
func NewScreen(maxHead, maxTail int) *Screen {
	return &Screen{maxHead: maxHead, maxTail: maxTail, rows: [][]byte{nil}, above: []byte("\n")}
}

// ShowScreen returns the whole text as a terminal shows it.
func ShowScreen(text string) string {
	screen := NewScreen(math.MaxInt, 0)
	_, _ = screen.Write([]byte(text))
	head, _, _ := screen.HeadTail()
	return head
}

// Write never fails.
func (s *Screen) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if s.state != inText {
			rest = rest[s.readEscape(rest[0]):]
			continue
		}
		text := rest[:min(len(rest), maxRowBytes)]
		if end := bytes.IndexAny(text, "\n\r\b\x1b"); end >= 0 {
			text = text[:end]
		}
		if len(text) > 0 {
			s.putText(text)
			rest = rest[len(text):]
			continue
		}
		switch rest[0] {
		case '\n':
			s.endLine()
		case '\r':
			s.col = 0
		case '\b':
			s.moveTo(s.row, s.cursorColumn()-1)
		default:
			s.state = inEscape
		}
		rest = rest[1:]
	}
	return len(p), nil
}

// HeadTail returns the first and the last bytes of what the screen shows, and the number of bytes between them.
func (s *Screen) HeadTail() (head, tail string, omitted int64) {
	end := *s
	end.head = slices.Clone(s.head)
	end.tail = slices.Clone(s.tail)
	end.above = slices.Clone(s.above)
	last := len(s.rows) - 1
	for last > s.row && len(s.rows[last]) == 0 {
		last--
	}
	for _, row := range s.rows[:last] {
		end.keepLine(row)
	}
	end.endRepeats()
	end.keepBytes(s.rows[last])
	if over := len(end.tail) - s.maxTail; over > 0 {
		end.tail = end.tail[over:]
	}
	return string(end.head), string(end.tail), end.total - int64(len(end.head)+len(end.tail))
}

// keepLine makes a line final. It counts a line that repeats the one above it.
func (s *Screen) keepLine(row []byte) {
	if s.maxHead < math.MaxInt && bytes.Equal(row, s.above) {
		s.repeats++
		return
	}
	s.endRepeats()
	s.above = append(s.above[:0], row...)
	s.keepBytes(row)
	s.keepBytes([]byte("\n"))
}

// endRepeats writes the counted repeats of a line.
func (s *Screen) endRepeats() {
	repeats := s.repeats
	s.repeats = 0
	if repeats >= minRepeats {
		s.keepBytes(fmt.Appendf(nil, "[the line above is repeated %d times]\n", repeats))
		return
	}
	for range repeats {
		s.keepBytes(s.above)
		s.keepBytes([]byte("\n"))
	}
}

// keepBytes appends final text to the head and the tail.
func (s *Screen) keepBytes(p []byte) {
	s.total += int64(len(p))
	if room := s.maxHead - len(s.head); room > 0 {
		taken := min(room, len(p))
		s.head = append(s.head, p[:taken]...)
		p = p[taken:]
	}
	s.tail = append(s.tail, p...)
	if len(s.tail) > 2*s.maxTail {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-s.maxTail:]...)
	}
}

// endLine moves the cursor to the start of the next line. A new line makes the oldest one final.
func (s *Screen) endLine() {
	s.col = 0
	if s.row++; s.row < len(s.rows) {
		return
	}
	if len(s.rows) < screenRows {
		s.rows = append(s.rows, nil)
		return
	}
	oldest := s.rows[0]
	s.keepLine(oldest)
	copy(s.rows, s.rows[1:])
	s.row--
	s.saved[0]--
	s.rows[s.row] = oldest[:0]
}

// putText writes printable text at the cursor.
func (s *Screen) putText(text []byte) {
	row := s.rows[s.row]
	for len(row) < s.col {
		row = append(row, ' ')
	}
	row = append(row[:s.col], text...)
	s.rows[s.row] = row
	if s.col = len(row); s.col > maxRowBytes {
		s.keepStart()
	}
}

// keepStart makes the text of a long line final, with the lines above it. The line continues without it.
func (s *Screen) keepStart() {
	for _, row := range s.rows[:s.row] {
		s.keepLine(row)
	}
	s.endRepeats()
	s.keepBytes(s.rows[s.row])
	s.above = append(s.above[:0], '\n')
	s.rows = slices.Delete(s.rows, 0, s.row)
	s.saved[0] -= s.row
	s.rows[0] = s.rows[0][:0]
	s.row = 0
	s.col = 0
}

// cursorColumn returns the cursor's column in cells.
func (s *Screen) cursorColumn() int {
	row := s.rows[s.row]
	return utf8.RuneCount(row[:min(s.col, len(row))]) + max(0, s.col-len(row))
}

// moveTo sets the cursor to a column of a line, within the screen.
func (s *Screen) moveTo(row, column int) {
	s.row = max(0, min(row, len(s.rows)-1))
	text := s.rows[s.row]
	column = max(0, min(column, max(maxColumn, utf8.RuneCount(text))))
	for s.col = 0; column > 0; column-- {
		_, size := utf8.DecodeRune(text[min(s.col, len(text)):])
		s.col += max(1, size)
	}
}

// moveToEnd sets the cursor to an empty line below all others.
func (s *Screen) moveToEnd() {
	s.row, s.col = len(s.rows)-1, 0
	if len(s.rows[s.row]) > 0 {
		s.endLine()
	}
}
