mod contract;
mod errand;
