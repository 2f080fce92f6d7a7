package file

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"
)

var errCrashed = errors.New("the machine is off")

// crashDisk is a disk in memory that knows what was synced. From one operation on
// it answers nothing more; then crash says what is left.
type crashDisk struct {
	mu      sync.Mutex
	rng     *rand.Rand
	names   map[string]*inode // as processes see them
	durable map[string]*inode // as a power cut leaves them
	pending []nameChange      // since the last sync of the names
	ops     int
	dieAt   int  // the operation that is not finished; 0: none
	full    int  // from this operation on there is no room for more bytes; 0: there always is
	freeAt  int  // and from this one on there is again
	failAt  int  // the first sync of a file from here on fails; 0: none
	failed  bool // it has
}

// nameChange is a change of the names that is not synced: the file of a name, or
// nil where it is removed.
type nameChange struct {
	name string
	file *inode
}

// inode is a file: what was synced of it, and the changes since.
type inode struct {
	now, synced []byte
	pending     []change
}

// change is a write, or a cut where data is nil.
type change struct {
	offset int64
	data   []byte
}

func newCrashDisk(rng *rand.Rand) *crashDisk {
	return &crashDisk{rng: rng, names: map[string]*inode{}, durable: map[string]*inode{}}
}

// step counts an operation. It reports whether this one is the last, and fails
// those behind it.
func (d *crashDisk) step() (last bool, err error) {
	d.ops++
	if d.dieAt > 0 && d.ops > d.dieAt {
		return false, errCrashed
	}
	return d.dieAt > 0 && d.ops == d.dieAt, nil
}

// crash is the disk after the machine went off, or, without lose, after the
// process was killed: then the kernel still has all that was written, and has not synced it.
func (d *crashDisk) crash(lose bool) *crashDisk {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := newCrashDisk(d.rng)
	if !lose {
		copies := map[*inode]*inode{}
		copyOf := func(f *inode) *inode {
			if f != nil && copies[f] == nil {
				copies[f] = &inode{now: slices.Clone(f.now), synced: slices.Clone(f.synced), pending: slices.Clone(f.pending)}
			}
			return copies[f]
		}
		for name, f := range d.names {
			next.names[name] = copyOf(f)
		}
		for name, f := range d.durable {
			next.durable[name] = copyOf(f)
		}
		for _, c := range d.pending {
			next.pending = append(next.pending, nameChange{c.name, copyOf(c.file)})
		}
		return next
	}
	names := maps.Clone(d.durable)
	for _, c := range d.pending { // each may have come to the disk or not
		if d.rng.IntN(2) == 0 {
			continue
		}
		if c.file == nil {
			delete(names, c.name)
		} else {
			names[c.name] = c.file
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		data := names[name].afterPowerCut(d.rng)
		file := &inode{now: data, synced: slices.Clone(data)}
		next.names[name], next.durable[name] = file, file
	}
	return next
}

// afterPowerCut is what is left of a file: of each change since the last sync
// all, nothing, or some of its sectors.
func (f *inode) afterPowerCut(rng *rand.Rand) []byte {
	const sector = 512
	data := slices.Clone(f.synced)
	for _, c := range f.pending {
		how := rng.IntN(4)
		if c.data == nil {
			if how > 0 && c.offset < int64(len(data)) {
				data = data[:c.offset]
			}
			continue
		}
		switch how {
		case 0: // nothing
		case 1:
			data = putBytes(data, c.offset, c.data)
		case 2:
			data = putBytes(data, c.offset, c.data[:rng.IntN(len(c.data)+1)])
		default:
			for at := 0; at < len(c.data); at += sector {
				if rng.IntN(2) == 0 {
					data = putBytes(data, c.offset+int64(at), c.data[at:min(at+sector, len(c.data))])
				}
			}
		}
	}
	return data
}

func putBytes(data []byte, offset int64, raw []byte) []byte {
	if need := int(offset) + len(raw); need > len(data) && len(raw) > 0 {
		data = append(data, make([]byte, need-len(data))...)
	}
	copy(data[min(int(offset), len(data)):], raw)
	return data
}

func (d *crashDisk) List() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step(); err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(d.names)), nil
}

func (d *crashDisk) Open(name string) (diskFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step(); err != nil {
		return nil, err
	}
	f, ok := d.names[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, os.ErrNotExist)
	}
	return &crashFile{disk: d, inode: f}, nil
}

func (d *crashDisk) Create(name string) (diskFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, err := d.step()
	if err != nil {
		return nil, err
	}
	if d.names[name] != nil {
		return nil, fmt.Errorf("%s: %w", name, os.ErrExist)
	}
	f := &inode{}
	d.names[name] = f
	d.pending = append(d.pending, nameChange{name: name, file: f})
	if last {
		return nil, errCrashed
	}
	return &crashFile{disk: d, inode: f}, nil
}

func (d *crashDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, err := d.step()
	if err != nil {
		return err
	}
	if d.names[name] == nil {
		return fmt.Errorf("%s: %w", name, os.ErrNotExist)
	}
	delete(d.names, name)
	d.pending = append(d.pending, nameChange{name: name})
	if last {
		return errCrashed
	}
	return nil
}

func (d *crashDisk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, err := d.step()
	if err != nil {
		return err
	}
	if last {
		return errCrashed // before anything was synced
	}
	d.durable, d.pending = maps.Clone(d.names), nil
	return nil
}

// crashFile is an open file of a crashDisk.
type crashFile struct {
	disk   *crashDisk
	inode  *inode
	closed bool
}

func (f *crashFile) ReadAt(p []byte, offset int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.closed {
		return 0, os.ErrClosed
	}
	if offset >= int64(len(f.inode.now)) {
		return 0, io.EOF
	}
	n := copy(p, f.inode.now[offset:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *crashFile) WriteAt(p []byte, offset int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	last, err := f.disk.step()
	if err != nil {
		return 0, err
	}
	n := len(p)
	if d := f.disk; d.full > 0 && d.ops >= d.full && d.ops < d.freeAt && int(offset)+n > len(f.inode.now) {
		n, err = d.rng.IntN(len(p)), syscall.ENOSPC
	}
	if last {
		n, err = f.disk.rng.IntN(len(p)+1), errCrashed
	}
	data := slices.Clone(p[:n])
	f.inode.now = putBytes(f.inode.now, offset, data)
	f.inode.pending = append(f.inode.pending, change{offset, data})
	return n, err
}

func (f *crashFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	last, err := f.disk.step()
	if err != nil {
		return err
	}
	f.inode.now = f.inode.now[:min(size, int64(len(f.inode.now)))]
	f.inode.pending = append(f.inode.pending, change{offset: size})
	if last {
		return errCrashed
	}
	return nil
}

func (f *crashFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	last, err := f.disk.step()
	if err != nil {
		return err
	}
	if last {
		return errCrashed
	}
	if d := f.disk; d.failAt > 0 && d.ops >= d.failAt && !d.failed {
		d.failed = true // some of it is on the disk; the rest shows, and no later sync brings it there
		f.inode.synced, f.inode.pending = f.inode.afterPowerCut(d.rng), nil
		return syscall.EIO
	}
	for _, c := range f.inode.pending { // and not what an earlier sync dropped
		if c.data == nil {
			f.inode.synced = f.inode.synced[:min(c.offset, int64(len(f.inode.synced)))]
			continue
		}
		f.inode.synced = putBytes(f.inode.synced, c.offset, slices.Clone(c.data))
	}
	f.inode.pending = nil
	return nil
}

func (f *crashFile) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.inode.now)), nil
}

func (f *crashFile) Close() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.closed = true
	return nil
}
