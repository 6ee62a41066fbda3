pub(super) mod contract;
