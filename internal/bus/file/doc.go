// Package file is the driver of the bus that keeps everything in one
// write-ahead log of plain files, without a server.
//
// It owns one folder, with a lock that keeps a second process out, blobs/ (as
// every driver with a folder) and wal/:
//
//	wal/00000001.wal   a segment that is full: it ends with an end frame
//	wal/00000002.wal   the newest segment: frames are added to it
//	wal/compact.tmp    a compaction that was interrupted
//
// # Frames
//
// A segment is a head and frames, one behind the other. A frame is a record, the
// purge of a journal, a mark, or the end of its segment. It has a length and a
// CRC-32C, into which a random number of its segment and its own offset go: bytes
// that belong elsewhere are no frame here.
//
// # Appends
//
// One goroutine writes. It takes the requests that came while it synced, decides
// each against the index and those before it, writes their frames at once and
// syncs once (group commit). Then the index moves on and the callers get their
// answers. Refusals wait for the sync too: they may rest on records of the batch.
//
// Behind each batch stands a mark: what lies before it is on the disk. So a torn
// tail and damage are told apart. A bad frame without a mark behind it was never
// acknowledged: it is cut off, and the logger hears of it. A bad frame before a
// mark is ELedger with file and offset, and nothing is opened. What this cannot
// see is damage to the last batch after a power cut that took its mark along, damage to
// both at once, and a tail that is cut off by hand: the ledger's chain and snapshot are for that.
//
// The newest segment has room: zeros behind its last frame, 64 KiB at first and up to a MiB
// later, so that most syncs are of bytes that the file has already (localfiles.Room). A bus that
// is closed cuts them off; what a kill leaves of them is no torn tail, and stays as room.
//
// A start writes what lies behind the newest mark once more, and syncs it: after a kill, and
// after a sync that failed, the kernel may show bytes that are not on the disk (decision 0198).
//
// # Space
//
// A segment is rolled at 64 MiB. A full one of which half is dead (journals that
// were purged, states of items that were replaced) is written anew without it,
// beside, and renamed into its place. Small neighbours are joined; a segment's
// head names the segments that it stands for, so that what a kill leaves of the
// others is known.
//
// The package does not judge what records say, and has no opinion on their times.
package file
