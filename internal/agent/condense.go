package agent

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/adapters"
	"company/internal/safetext"
)

// Where clearing old results makes too little room, the oldest turns leave the context,
// and a digest of them stands behind the first message. It is made from the
// conversation alone, without a question to the model: what it may not forget has a
// place of its own. The first message, which holds the ticket, stays as it is.

// Bounds of a digest.
const (
	mostDigest  = 4000 // tokens
	leastDigest = 250
	digestShare = 6 // of the limit of the context, one part in so many

	digestWord  = 2000 // bytes of a message of the president
	digestKept  = 4000 // of a result that is kept, such as a to-do list
	digestNote  = 1000 // of a note
	digestLine  = 160  // of a call, and of the first line of its result
	digestReply = 400  // of what the model wrote
	digestPaths = 80   // names of files of one kind
)

// presidentWord is a message of the president, and the message that holds it.
type presidentWord struct {
	msg  int
	text string
}

// headMessages is how many messages stand before the first reply.
func (c *conversation) headMessages() int {
	return slices.IndexFunc(c.msgs, func(m adapters.Message) bool { return m.Role == adapters.Assistant })
}

// findCondensable is the message before which all may be left out, so that the newest
// keep tokens stay, and the newest turn in any case; 0: there is nothing to leave out.
func (c *conversation) findCondensable(keep int) int {
	upto, newest := 0, 0
	for i := len(c.msgs) - 1; i > max(c.headMessages(), c.condensed); i-- {
		newest += c.sentTokens(i)
		if c.msgs[i].Role != adapters.Assistant {
			continue
		}
		if upto > 0 && newest > keep {
			break
		}
		upto = i
	}
	return upto
}

// sentTokens is the size of one message as it is sent now.
func (c *conversation) sentTokens(msg int) int {
	n := messageTokens(c.msgs[msg])
	for _, r := range c.results[:c.maskTo] {
		if r.msg == msg && !r.keep {
			n -= r.size - tokensOf(cleared)
		}
		if r.call == msg {
			n -= r.won
		}
	}
	return n
}

// condenseStep leaves old turns out, so that the newest keep tokens stay; ok is false
// where that would free fewer than least tokens.
func (c *conversation) condenseStep(keep, least int) (s step, ok bool) {
	upto := c.findCondensable(keep)
	if upto == 0 {
		return step{}, false
	}
	text := c.digestTurns(upto)
	if c.tokensCondensed(upto, text) < least {
		return step{}, false
	}
	return step{do: condense, upto: upto, text: text}, true
}

// tokensCondensed is how many tokens are won where the messages before upto are left
// out and a digest stands for them.
func (c *conversation) tokensCondensed(upto int, digest string) int {
	n := tokensOf(c.digest) - tokensOf(digest)
	for i := max(c.headMessages(), c.condensed); i < upto; i++ {
		n += c.sentTokens(i)
	}
	return n
}

// foldCondense folds that the turns before a message have left the context.
func (c *conversation) foldCondense(r condenseRecord, digest string) {
	c.clearings++
	if r.Upto <= max(c.headMessages(), c.condensed) || r.Upto >= len(c.msgs) || c.msgs[r.Upto].Role != adapters.Assistant {
		return // a journal that was tampered with; the conversation stays as it is
	}
	c.tokens -= c.tokensCondensed(r.Upto, digest)
	c.condensed, c.digest = r.Upto, digest
	for c.maskTo < len(c.results) && c.results[c.maskTo].msg < r.Upto {
		c.maskTo++
	}
	c.roomMade = c.requests
}

// digestTurns sums up the turns before a message.
func (c *conversation) digestTurns(upto int) string {
	room := 4 * min(max(c.limit/digestShare, leastDigest), mostDigest)
	d := digest{room: room}
	calls := 0
	for calls < len(c.results) && c.results[calls].msg < upto {
		calls++
	}
	d.add(c.digestWords(upto), room/4)
	d.add(c.digestKept(calls), room/4)
	d.add(c.digestNotes(calls), room/4)
	d.add(c.digestFiles(calls), room/4)
	var doings, replies []string
	for i := range calls {
		if line := c.digestCall(i); line != "" {
			doings = append(doings, line)
		}
	}
	for i := c.headMessages(); i < upto; i++ {
		if m := c.msgs[i]; m.Role == adapters.Assistant && strings.TrimSpace(m.Content) != "" {
			replies = append(replies, "- "+cutLine(m.Content, digestReply))
		}
	}
	d.add(newestLines("Commands and other calls, the newest last:", doings, d.roomLeft()/2), d.roomLeft())
	d.add(newestLines("What you wrote, the newest last:", replies, d.roomLeft()), d.roomLeft())
	turns := 0
	for _, m := range c.msgs[:upto] {
		if m.Role == adapters.Assistant {
			turns++
		}
	}
	return fmt.Sprintf("[system] The first %d turns of this conversation are left out, to make room. Files, index and branch are as your calls left them. Read again what you need.\n", turns) +
		Quote("earlier_turns", "", d.text.String())
}

// digest collects sections up to a size in bytes.
type digest struct {
	text strings.Builder
	room int
}

func (d *digest) roomLeft() int { return max(0, d.room-d.text.Len()) }

func (d *digest) add(text string, most int) {
	if text != "" {
		d.text.WriteString(safetext.HeadTail(text, max(min(most, d.roomLeft()), 64)) + "\n")
	}
}

// newestLines is a title with as many of the newest lines as have room, in their order.
func newestLines(title string, lines []string, room int) string {
	room -= len(title) + 40
	from := len(lines)
	for from > 0 && room >= len(lines[from-1])+1 {
		from--
		room -= len(lines[from]) + 1
	}
	if from == len(lines) {
		return ""
	}
	if from > 0 {
		title += fmt.Sprintf("\n(%d older ones are left out)", from)
	}
	return title + "\n" + strings.Join(lines[from:], "\n")
}

func (c *conversation) digestWords(upto int) string {
	var b strings.Builder
	for _, w := range c.words {
		if w.msg < upto && w.msg >= c.headMessages() {
			b.WriteString(safetext.HeadTail(w.text, digestWord) + "\n")
		}
	}
	return b.String()
}

// digestKept is the newest result of each tool whose results are kept.
func (c *conversation) digestKept(calls int) string {
	var b strings.Builder
	seen := map[string]bool{}
	for i := calls - 1; i >= 0; i-- {
		call := c.log.ToolCalls[i]
		if c.results[i].lasts && !seen[call.Name] {
			seen[call.Name] = true
			fmt.Fprintf(&b, "The newest %s:\n%s\n", call.Name, safetext.HeadTail(strings.TrimSpace(call.Result), digestKept))
		}
	}
	return b.String()
}

// digestNotes lists the notes that tools have kept: decisions, traps.
func (c *conversation) digestNotes(calls int) string {
	var lines []string
	for _, call := range c.log.ToolCalls[:calls] {
		if c.lasting[call.Name] && !call.IsError {
			lines = append(lines, "- "+cutLine(mainArgument(call.Arguments), digestNote))
		}
	}
	return newestLines("Your notes:", lines, 1<<20)
}

// digestFiles names the files that were changed and read, each once.
func (c *conversation) digestFiles(calls int) string {
	var changed, read []string
	for _, r := range c.results[:calls] {
		switch {
		case r.path == "":
		case r.changed && !slices.Contains(changed, r.path):
			changed = append(changed, r.path)
		case !r.changed && !slices.Contains(read, r.path):
			read = append(read, r.path)
		}
	}
	read = slices.DeleteFunc(read, func(p string) bool { return slices.Contains(changed, p) })
	var b strings.Builder
	for _, kind := range []struct {
		title string
		paths []string
	}{{"Files that you changed: ", changed}, {"Files that you read: ", read}} {
		if n := len(kind.paths); n > 0 {
			newest := kind.paths[max(0, n-digestPaths):]
			b.WriteString(kind.title + strings.Join(newest, ", "))
			if n > len(newest) {
				fmt.Fprintf(&b, " and %d more", n-len(newest))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// digestCall is one line of a call that has no other place in a digest.
func (c *conversation) digestCall(i int) string {
	call, r := c.log.ToolCalls[i], c.results[i]
	if r.path != "" && !call.IsError || r.lasts || c.lasting[call.Name] {
		return ""
	}
	failed := ""
	if call.IsError {
		failed = "refused: "
	}
	return fmt.Sprintf("- %s %s -> %s%s", call.Name, cutLine(mainArgument(call.Arguments), digestLine), failed, cutLine(call.Result, digestLine))
}

// cutLine is the beginning of a text in one line.
func cutLine(text string, most int) string {
	return safetext.Cut(strings.Join(strings.Fields(safetext.Cut(text, 4*most)), " "), most)
}
