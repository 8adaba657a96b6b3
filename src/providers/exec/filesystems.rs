//! Filesystems of a process that speaks JSON lines.

use bailiwick_actors::{
    ports::{
        Answer, AttachFilesystem, BulkAnswer, CreateFilesystem, DetachFilesystem, FilesystemAttachmentInfo,
        FilesystemProvider, Listing, Lookup, ProvisionedFilesystem,
    },
    vocab::{EffectId, Fault},
};

use super::{
    ExecProvider, each, trust,
    wire::{self, NewFilesystem, NewMount, OldMount, Operation},
};

impl FilesystemProvider for ExecProvider {
    fn can_release(&self) -> Option<bool> {
        self.shared.can_release()
    }

    fn create_filesystems(&self, filesystems: Vec<CreateFilesystem>) -> BulkAnswer<'_, ProvisionedFilesystem> {
        Box::pin(async move {
            let wishes = filesystems.iter().map(|wish| (wish.id, wire::json(&NewFilesystem::from(wish)))).collect();
            let check = |at: usize, told| trust::filesystem(&filesystems[at], told);
            self.bulk(Operation::CreateFilesystems, wishes, check).await
        })
    }

    fn destroy_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        Box::pin(self.undo(Operation::DestroyFilesystems, each(ids)))
    }

    fn release_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, ()> {
        Box::pin(self.undo(Operation::ReleaseFilesystems, each(ids)))
    }

    fn lookup_filesystems(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<ProvisionedFilesystem>> {
        Box::pin(self.look(Operation::LookupFilesystems, ids, trust::found_filesystem))
    }

    fn list_filesystems(&self) -> Answer<'_, Result<Listing<ProvisionedFilesystem>, Fault>> {
        Box::pin(async move {
            let (listing, _) = self.pages(Operation::ListFilesystems, trust::listed_filesystem).await?;
            Ok(trust::without_twins(listing, |filesystem| filesystem.effect))
        })
    }

    fn attach_filesystems(&self, attachments: Vec<AttachFilesystem>) -> BulkAnswer<'_, FilesystemAttachmentInfo> {
        Box::pin(async move {
            let wishes = attachments.iter().map(|wish| (wish.id, wire::json(&NewMount::from(wish)))).collect();
            let check = |at: usize, told| trust::mount(&attachments[at], told);
            self.bulk(Operation::AttachFilesystems, wishes, check).await
        })
    }

    fn detach_filesystems(&self, attachments: Vec<DetachFilesystem>) -> BulkAnswer<'_, ()> {
        let wishes = attachments.iter().map(|wish| (wish.id, wire::json(&OldMount::from(wish)))).collect();
        Box::pin(self.undo(Operation::DetachFilesystems, wishes))
    }

    fn lookup_filesystem_attachments(&self, ids: Vec<EffectId>) -> BulkAnswer<'_, Lookup<FilesystemAttachmentInfo>> {
        Box::pin(self.look(Operation::LookupFilesystemAttachments, ids, trust::found_mount))
    }

    fn cancel(&self, id: EffectId) {
        self.order_cancel(id);
    }
}
