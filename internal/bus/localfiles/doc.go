// Package localfiles holds what the drivers of the bus that keep a folder have
// alike: the lock that keeps a second process off it, and the blobs. It promises
// that two drivers on one folder exclude each other, and that both find the same
// blobs in it. It knows nothing of records and items.
package localfiles
