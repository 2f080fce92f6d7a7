package file

import (
	"fmt"
	"time"

	"company/internal/bus"
)

// plan holds the result of a batch of requests: the frames to write, and an answer to each request.
type plan struct {
	now     time.Time
	nextSeq uint64
	frames  []frame
	raw     []byte // the encoded frames
	answers []answer
	purges  bool
	ahead   map[string]*subjectAhead
}

// subjectAhead is the state of a subject after the frames that are planned so far.
type subjectAhead struct {
	last   uint64 // 0 if there is no record
	ids    map[string]uint64
	purged bool // the records in the index are purged by then
}

// planBatch decides requests one after another.
func (b *Bus) planBatch(batch []*request) *plan {
	b.mu.RLock()
	defer b.mu.RUnlock()
	p := &plan{now: time.Now(), nextSeq: b.nextSeq, answers: make([]answer, len(batch)), ahead: map[string]*subjectAhead{}}
	for i, r := range batch {
		seq, err := b.decide(p, r)
		p.answers[i] = answer{seq, err}
	}
	for _, f := range p.frames {
		p.raw = appendFrame(p.raw, f, b.active.salt, b.active.size+int64(len(p.raw)))
	}
	return p
}

// decide adds the frame of a request to the plan, or refuses the request. The caller holds mu.
func (b *Bus) decide(p *plan, r *request) (uint64, error) {
	at := p.ahead[r.subject]
	if at == nil {
		at = &subjectAhead{ids: map[string]uint64{}}
		if e, ok := b.index.lastEntry(r.subject, p.now); ok {
			at.last = e.seq
		}
		p.ahead[r.subject] = at
	}
	if r.kind == purgeFrame {
		if at.last == 0 {
			return 0, nil
		}
		p.purges = true
		seq := p.add(frame{kind: purgeFrame, subject: r.subject})
		at.last = 0
		at.ids = map[string]uint64{}
		at.purged = true
		return seq, nil
	}
	if first, ok := at.ids[r.id]; ok && r.id != "" {
		return first, nil
	}
	if entry, ok := b.index.findID(r.subject, r.id); ok && !at.purged {
		f, err := b.readEntry(entry)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", bus.ErrUnknown, err)
		}
		if f.id == r.id {
			return entry.seq, nil
		}
	}
	if at.last != r.expect {
		return 0, bus.ErrConflict
	}
	f := frame{kind: recordFrame, subject: r.subject, id: r.id, data: r.data}
	if r.keep > 0 {
		f.expires = p.now.Add(r.keep)
	}
	seq := p.add(f)
	at.last = seq
	at.ids[r.id] = seq
	return seq, nil
}

func (p *plan) add(f frame) uint64 {
	f.seq, f.time = p.nextSeq, p.now
	p.nextSeq++
	p.frames = append(p.frames, f)
	return f.seq
}
