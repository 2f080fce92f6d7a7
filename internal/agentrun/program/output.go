package program

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/agent"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// output collects what a program prints.
type output struct {
	log     *agent.ProgramLog
	reader  reader
	session string // that the program was told to continue

	mu        sync.Mutex // held while output comes; the rest is read after the program has ended
	newest    time.Time  // when something came
	asks      string     // the last line if it asks a person
	final     time.Time  // when it said how it ended, zero if it has not, or went on
	printed   bool       // something on stdout
	begun     bool       // it did begin; known after it has ended
	pending   []byte     // whole lines that are not journaled
	flushed   time.Time  // when lines were last journaled
	rest      [2][]byte
	escalates []string // what follows ESCALATE:, line by line
	lastWords string   // the last line on stderr, or else on stdout
	onStderr  bool
}

// reader understands the lines that one kind of program prints on stdout.
type reader interface {
	// readLine reads a line. It returns what the program says or does in it. isKnown is false for a line that is text
	// for people.
	readLine(line []byte) (steps []agent.ProgramStep, isKnown bool)
	// isFinal reports whether the program has said how it ended, and nothing since.
	isFinal() bool
	readVerdict() verdict
	// readSession returns the id with which the program continues its conversation, or "".
	readSession() string
}

// verdict is how a program says that it ended.
type verdict struct {
	kind  verdictKind
	words string
}

type verdictKind string

const (
	saidNothing    verdictKind = ""
	saidDone       verdictKind = "done"       // words are its summary
	saidFailed     verdictKind = "failed"     // words are why
	saidBlocked    verdictKind = "blocked"    // it asks for help: words are why
	saidUnreadable verdictKind = "unreadable" // words are what is wrong with what it said
)

// judgeWords returns the verdict of a program that ends with words, and asks for help with a line in them. failed says
// why it could not do its work.
func judgeWords(said, failed string, isDone bool) verdict {
	words := strings.TrimSpace(said)
	_, help, asksForHelp := strings.Cut("\n"+words, "\n"+escalate)
	switch {
	case asksForHelp:
		return verdict{saidBlocked, strings.TrimSpace(help)}
	case failed != "":
		return verdict{saidFailed, failed}
	case isDone:
		return verdict{saidDone, words}
	}
	return verdict{saidNothing, words}
}

const (
	maxLine    = 16 << 10            // bytes of a line that is kept for people
	maxWhole   = maxResult + maxLine // bytes of a line that is read
	flushBytes = 16 << 10            // bytes of lines that are journaled together
	flushEvery = time.Second
	escalate   = "ESCALATE:"

	maxReason   = 50      // lines of what follows it
	maxQuestion = 4 << 10 // bytes of a line that may be a question
)

// addPiece takes a piece of output.
func (o *output) addPiece(ctx context.Context, piece toolproto.ProgramOutput) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	stream := 0
	if piece.Stderr {
		stream = 1
	}
	o.newest = time.Now()
	o.printed = o.printed || !piece.Stderr
	begun := len(o.rest[stream])
	data := append(o.rest[stream], piece.Data...)
	// What came before has no line end.
	for end := bytes.IndexByte(data[begun:], '\n'); end >= 0; end = bytes.IndexByte(data, '\n') {
		if err := o.takeLine(ctx, data[:begun+end], piece.Stderr, true); err != nil {
			return err
		}
		data, begun = data[begun+end+1:], 0
	}
	if len(data) > maxWhole { // an endless line
		if err := o.takeLine(ctx, data, piece.Stderr, true); err != nil {
			return err
		}
		data = nil
	}
	if o.rest[stream] = data; len(data) > 0 && len(data) <= maxQuestion {
		o.noteQuestion(data, piece.Stderr, false)
	}
	if len(o.pending) < flushBytes {
		return nil
	}
	return o.journalLines(ctx)
}

// journalOld journals what was printed a while ago.
func (o *output) journalOld(ctx context.Context, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) == 0 || now.Sub(o.flushed) < flushEvery {
		return nil
	}
	return o.journalLines(ctx)
}

// takeLine takes a line. isWhole is false for a last one without an end.
func (o *output) takeLine(ctx context.Context, line []byte, stderr, isWhole bool) error {
	if !stderr {
		steps, isKnown := o.reader.readLine(line)
		switch {
		case !o.reader.isFinal():
			o.final = time.Time{}
		case o.final.IsZero():
			o.final = time.Now()
		}
		if len(steps) > 0 {
			if err := o.journalLines(ctx); err != nil {
				return err
			}
		}
		for _, step := range steps {
			if err := o.log.NoteStep(ctx, step); err != nil {
				return err
			}
		}
		if isKnown {
			o.asks = ""
			return nil
		}
	}
	text := strings.TrimSpace(string(line[:min(len(line), maxLine)]))
	if text != "" && (stderr || !o.onStderr) && !strings.HasPrefix(text, "===") {
		o.lastWords, o.onStderr = safetext.EscapeLine(text, 300), stderr
	}
	o.noteQuestion(line, stderr, isWhole)
	reason, begins := strings.CutPrefix(text, escalate)
	if !stderr && (begins || len(o.escalates) > 0 && len(o.escalates) < maxReason) {
		o.escalates = append(o.escalates, strings.TrimSpace(reason))
	}
	o.pending = append(append(o.pending, line[:min(len(line), maxLine)]...), '\n')
	return nil
}

// progress is the state of a running program's output.
type progress struct {
	newest time.Time // of output, zero without any
	asks   bool      // the last line asks a person
	final  time.Time // when it said how it ended, zero if it has not
}

func (o *output) readProgress() progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	return progress{o.newest, o.asks != "", o.final}
}

// sessionID matches the ids of conversations. A program's other words are no argument of its next start.
var sessionID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

// readSession returns the id of the program's conversation, or "".
func (o *output) readSession() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if id := o.reader.readSession(); sessionID.MatchString(id) {
		return id
	}
	return o.session
}

// hasPrinted reports whether the program has printed something.
func (o *output) hasPrinted() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.printed
}

// readLastWords returns the last line that may say what is wrong.
func (o *output) readLastWords() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lastWords
}

// lastQuestion returns the last line if it asks a person.
func (o *output) lastQuestion() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asks
}

// noteQuestion records whether the newest line asks a person. A result asks nobody.
func (o *output) noteQuestion(line []byte, stderr, isWhole bool) {
	o.asks = ""
	if result, ok := o.reader.(*blockReader); !ok || !result.inResult || stderr {
		o.asks = findQuestion(line, isWhole)
	}
}

// findQuestion returns a line that asks a person for input (PRC-8), and "" for others. JSON is for programs. A line
// with its end may be an answered question, or the text of a test.
func findQuestion(line []byte, isWhole bool) string {
	text := strings.TrimSpace(string(line[:min(len(line), maxQuestion)]))
	begins := func(start string) bool { return strings.HasPrefix(text+" ", start) }
	ends := func(part string) bool { return strings.HasSuffix(strings.TrimRight(text, " :?"), part) }
	has := func(part string) bool { return strings.Contains(text, part) }
	choices := []string{"[Y/n]", "[y/N]", "(yes/no)"}
	switch {
	case begins("{"):
	case begins("? "), isWhole && slices.ContainsFunc(choices, ends),
		!isWhole && (begins("Enter ") || begins("Press ") || slices.ContainsFunc(choices, has)):
		return safetext.EscapeLine(text, 200)
	}
	return ""
}

// flushLines takes the lines that lack their ends, and journals all.
func (o *output) flushLines(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for stream, rest := range o.rest {
		o.rest[stream] = nil
		if len(rest) == 0 {
			continue
		}
		if err := o.takeLine(ctx, rest, stream == 1, false); err != nil {
			return err
		}
	}
	return o.journalLines(ctx)
}

func (o *output) journalLines(ctx context.Context) error {
	o.flushed = o.newest
	if len(o.pending) == 0 {
		return nil
	}
	lines := safetext.Escape(string(o.pending))
	o.pending = nil
	return o.log.NoteStep(ctx, agent.ProgramStep{Text: lines})
}
