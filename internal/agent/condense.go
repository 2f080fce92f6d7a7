package agent

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/adapters"
	"company/internal/lib/safetext"
)

// If clearing old results frees too little, the oldest turns leave the context, and a digest of them follows the
// first message. The digest is made from the conversation alone, without asking the model. Facts that must last,
// such as notes, have their own sections in it. The first message, which holds the ticket, stays unchanged.

// Limits of a digest.
const (
	mostDigest  = 4000 // tokens
	leastDigest = 250
	digestShare = 6 // a digest takes at most 1/digestShare of the context limit

	digestWord  = 2000 // bytes of a message of the president
	digestKept  = 4000 // bytes of a kept result, such as a to-do list
	digestNote  = 1000 // bytes of a note
	digestLine  = 160  // bytes of a call, and of its result
	digestReply = 400  // bytes of a reply's text
	digestPaths = 80   // names of files of one kind
)

// presidentWord is a message of the president, with the index of the message that holds it.
type presidentWord struct {
	msg  int
	text string
}

// headMessages returns the number of messages before the first reply.
func (c *conversation) headMessages() int {
	return slices.IndexFunc(c.msgs, func(m adapters.Message) bool { return m.Role == adapters.Assistant })
}

// findCondensable returns the index of the message before which all messages may be left out. The newest keep
// tokens stay, and at least the newest turn. It returns 0 if no message can be left out.
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

// sentTokens returns the size of one message as it is sent now.
func (c *conversation) sentTokens(msg int) int {
	n := messageTokens(c.msgs[msg])
	for _, result := range c.results[:c.maskTo] {
		if result.msg == msg && !result.keep {
			n -= result.size - tokensOf(cleared)
		}
		if result.call == msg {
			n -= result.won
		}
	}
	return n
}

// condenseStep leaves old turns out and keeps the newest keep tokens. ok is false if that frees fewer than least
// tokens.
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

// tokensCondensed returns the number of tokens saved if a digest replaces the messages before upto.
func (c *conversation) tokensCondensed(upto int, digest string) int {
	n := tokensOf(c.digest) - tokensOf(digest)
	for i := max(c.headMessages(), c.condensed); i < upto; i++ {
		n += c.sentTokens(i)
	}
	return n
}

// foldCondense applies the record of a digest, which replaces the turns before a message.
func (c *conversation) foldCondense(record condenseRecord, digest string) {
	c.clearings++
	if record.Upto <= max(c.headMessages(), c.condensed) || record.Upto >= len(c.msgs) ||
		c.msgs[record.Upto].Role != adapters.Assistant {
		return // the journal was tampered with: leave the conversation unchanged
	}
	c.tokens -= c.tokensCondensed(record.Upto, digest)
	c.condensed, c.digest = record.Upto, digest
	for c.maskTo < len(c.results) && c.results[c.maskTo].msg < record.Upto {
		c.maskTo++
	}
	c.roomMade = c.requests
}

// digestTurns returns a digest of the turns before a message.
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
	return fmt.Sprintf("[system] The first %d turns of this conversation are left out, to make room. Files, index and "+
		"branch are as your calls left them. Read again what you need.\n", turns) +
		Quote("earlier_turns", "", d.text.String())
}

// digest collects sections up to a total size in bytes.
type digest struct {
	text strings.Builder
	room int
}

func (d *digest) roomLeft() int { return max(0, d.room-d.text.Len()) }

func (d *digest) add(text string, limit int) {
	if text != "" {
		d.text.WriteString(safetext.HeadTail(text, max(min(limit, d.roomLeft()), 64)) + "\n")
	}
}

// newestLines returns a title and as many of the newest lines as fit, in their order.
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
	for _, word := range c.words {
		if word.msg < upto && word.msg >= c.headMessages() {
			b.WriteString(safetext.HeadTail(word.text, digestWord) + "\n")
		}
	}
	return b.String()
}

// digestKept returns the newest result of each tool that asks to keep its results.
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

// digestNotes lists the notes that tools have kept, such as decisions.
func (c *conversation) digestNotes(calls int) string {
	var lines []string
	for _, call := range c.log.ToolCalls[:calls] {
		if c.lasting[call.Name] && !call.IsError {
			lines = append(lines, "- "+cutLine(mainArgument(call.Arguments), digestNote))
		}
	}
	return newestLines("Your notes:", lines, 1<<20)
}

// digestFiles lists the files that were changed and read, each once.
func (c *conversation) digestFiles(calls int) string {
	var changed, read []string
	for _, result := range c.results[:calls] {
		switch {
		case result.path == "":
		case result.changed && !slices.Contains(changed, result.path):
			changed = append(changed, result.path)
		case !result.changed && !slices.Contains(read, result.path):
			read = append(read, result.path)
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

// digestCall returns one line for a call that no other section of the digest covers.
func (c *conversation) digestCall(i int) string {
	call, r := c.log.ToolCalls[i], c.results[i]
	if r.path != "" && !call.IsError || r.lasts || c.lasting[call.Name] {
		return ""
	}
	failed := ""
	if call.IsError {
		failed = "refused: "
	}
	return fmt.Sprintf("- %s %s -> %s%s", call.Name, cutLine(mainArgument(call.Arguments), digestLine), failed,
		cutLine(call.Result, digestLine))
}

// cutLine returns the beginning of a text as one line.
func cutLine(text string, limit int) string {
	return safetext.Cut(strings.Join(strings.Fields(safetext.Cut(text, 4*limit)), " "), limit)
}
