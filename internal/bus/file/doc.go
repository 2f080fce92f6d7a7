// Package file is a driver of the bus that keeps all data in one write-ahead log of plain files,
// without a server.
//
// It owns one folder, which holds a lock against other processes, blobs/ (as in every driver with a
// folder) and wal/:
//
//	wal/00000001.wal   a full segment: it ends with an end frame
//	wal/00000002.wal   the newest segment: frames are appended to it
//	wal/compact.tmp    an interrupted compaction
//
// # Frames
//
// A segment is a header followed by frames. A frame is a record, the purge of a journal,
// a mark, or the end of its segment. It has a length and a CRC-32C. The CRC also covers a
// random number of the segment and the frame's offset, so bytes that belong elsewhere are
// not valid frames here.
//
// # Appends
//
// One goroutine writes. It takes the requests that arrived during the last sync. It checks
// each against the index and the earlier requests of the batch, writes all frames at once
// and syncs once (group commit). Then it updates the index and answers the callers.
// Refusals wait for the sync too, because they may depend on records of the batch.
//
// A mark after each batch says that the bytes before it are on disk. It distinguishes a torn
// tail from damage. A bad frame without a later mark was never acknowledged: it is truncated
// and reported to the logger. A bad frame before a mark is ELedger with file and offset, and
// the bus is not opened. Three cases cannot be detected here: damage to the last batch after
// a power cut that also destroyed its mark, damage to both at once, and a tail that was
// truncated by hand. The ledger's chain and snapshot detect those.
//
// The newest segment has room: zeros after its last frame, 64 KiB at first and up to a MiB
// later. So most syncs concern bytes that the file already has (room). Close
// truncates the room. After a kill it is not a torn tail, and remains as room.
//
// Each start rewrites and syncs the bytes after the newest mark. After a kill or a failed
// sync the kernel may show bytes that are not on disk (docs/decisions/starts-and-snapshots.md).
//
// # Space
//
// Segments are closed at 64 MiB. If half of a full segment is dead (purged journals, replaced
// states of items), its live part is written to a new file that is renamed over it. Small
// neighbours are merged. The header of a segment lists the segments that it replaces, so that
// the leftovers of a killed merge are recognized.
//
// The package does not interpret records or their times.
package file
